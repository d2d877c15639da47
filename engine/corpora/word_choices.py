"""Which words are counted, and the stop words of eight languages, which also show the language of a
text.

The English list is scikit-learn's. The other lists were written for this project; they contain the
function words of each language (articles, pronouns, prepositions, conjunctions, auxiliary verbs,
common adverbs).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from unicodedata import normalize

from stickbreaker.engine.corpora.languages import LEMMAS, SPACES, check_tokenizer, find_language
from stickbreaker.engine.declarations import check_settings, setting

MAX_VOCABULARY = 100_000
MAX_NGRAM = 3
BY_SIZE = "the number of documents"

_LISTS = {
    "german": (
        """
ab aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes
auch auf aus außer bei beim bereits bin bis bist da dabei dadurch dafür dagegen daher dahin damit
danach daneben dann daran darauf daraus darin darum darunter darüber das dass dasselbe davon davor
dazu daß dein deine deinem deinen deiner dem den denn denen dennoch der deren derer derselbe des
deshalb dessen desto dich die dies diese dieselbe diesem diesen dieser dieses dir doch dort du durch
dürfen dürfte ebenso ein eine einem einen einer eines einige einigem einigen einiger einmal entweder
er erst es etwa etwas euch euer eure eurem euren eurer falls fast ferner für ganz gegen gegenüber
gewesen gibt habe haben hast hat hatte hatten hattest hier hin hinter hätte hätten ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer ihres im immer in indem infolge innen ins ist ja je jede jedem jeden
jeder jedes jedoch jemals jemand jene jenem jenen jener jenes jetzt kann kannst kaum kein keine
keinem keinen keiner keines konnte konnten können könnte könnten machen man manche manchem manchen
mancher manches mehr mein meine meinem meinen meiner mich mir mit mochte möchte mögen muss musste
mussten muß müssen nach nachdem neben nein nicht nichts nie noch nun nur ob obwohl oder ohne schon
sehr sei seid sein seine seinem seinen seiner seines seit seitdem selbst sich sie sind so sobald
sogar solch solche solchem solchen solcher soll sollen sollte sollten somit sondern sonst soweit
sowie sowohl statt trotz trotzdem um und uns unser unsere unserem unseren unserer unter usw viel
viele vielem vielen vom von vor war waren warst warum was weder weil weitere weiteren weiter welche
welchem welchen welcher welches wem wen wenig wenige wenn wer werde werden weshalb wessen wie wieder
wir wird wirst wo wobei wodurch wohl wollen wollte worden wurde wurden während wäre wären würde
würden zu zudem zum zur zwar zwischen über
"""
    ),
    "french": (
        """
afin ai ainsi ait alors après as assez au aucun aucune auquel aussi autant autre autres aux auxquels
avaient avais avait avant avec avez avoir avons ayant beaucoup bien car ce ceci cela celle celles
celui cependant ces cet cette ceux chaque chez ci comme comment contre dans de depuis des dessous
dessus deux devant doit donc dont du durant duquel dès elle elles en encore enfin ensuite entre
environ es est et eu eut eux fait faut fois font furent fut ici il ils jamais je jusque jusqu la
laquelle le lequel les lesquelles lesquels leur leurs lors lorsque lui là ma maintenant mais malgré
me mes mieux moi moins mon même mêmes ne ni non nos notamment notre nous nôtre on ont ou où par
parce parfois parmi pas pendant peu peut peuvent plus plusieurs plutôt pour pourquoi pourtant près
puis puisque qu quand quant que quel quelle quelles quelque quelques quels qui quoi sa sans se selon
sera serait seront ses seulement si sien soi soient soit sommes son sont sous souvent suis sur ta
tandis tant te tel telle telles tels tes toi ton toujours tous tout toute toutefois toutes trop très
tu un une vers voici voilà vos votre vous vôtre ya
étaient étais était étant été être
"""
    ),
    "spanish": (
        """
a al algo alguna algunas alguno algunos algún allí ambos ante antes aquel aquella aquellas aquello
aquellos aquí asimismo así aun aunque aún bajo bastante bien cada casi como con contra cosa cual
cuales cualquier cualquiera cuando cuanto cuya cuyo cómo cuál de debe deben del demás dentro desde
después donde dos durante e el ella ellas ello ellos embargo en entonces entre era eran eras eres es
esa esas ese eso esos esta estaba estaban estado estamos estar estas este esto estos está están fue
fuera fueron fui ha había habían habrá haber hace hacer hacia han hasta hay haya he hemos hubo
incluso ir jamás junto la las le les lo los luego me mediante menos mi mientras mis misma mismas
mismo mismos mucha muchas mucho muchos muy más mí nada nadie ni ninguna ninguno ningún no nos
nosotras nosotros nuestra nuestras nuestro nuestros nunca o os otra otras otro otros para parte pero
poca pocas poco pocos por porque pronto pudo puede pueden pues que quien quienes qué quién se sea
sean según ser será serán si sido siempre siendo sin sino sobre solamente solo son soy su sus sí
sólo tal tales también tampoco tan tanta tanto te tener tenía ti tiene tienen toda todas todavía
todo todos tras tu tus tuvo tú u un una unas uno unos usted ustedes va varias varios vez y ya yo él
"""
    ),
    "italian": (
        """
a abbia abbiamo abbiano ad adesso affinché agli ai al alcun alcuna alcune alcuni alcuno alla alle
allo allora altra altre altri altro anche ancora anzi appena aveva avevano avere avete avuto bene
benché c che chi chiunque ci ciascun ciascuno ciò cioè coi col come con contro così cui d da dagli
dai dal dalla dalle dallo davanti degli dei del dell della delle dello dentro di dopo dove dovrebbe
due dunque durante e ecco ed egli ella era erano eri essa esse essere essi faceva fanno fare fatto
fino fra fu fui furono gli già ha hai hanno ho i il in infatti inoltre insieme invece io l la le lei
li lo loro lui lungo ma mai me mediante meno mentre mi mia mie miei mio molta molte molti molto ne
nei nel nell nella nelle nello nemmeno neppure nessun nessuna nessuno niente noi non nostra nostre
nostri nostro nulla né o od ogni ognuno oltre oppure ora per perché perciò però più poche pochi poco
poi poiché pure qua qualche qualcosa qualcuno quale quali quando quanta quante quanti quanto quasi
quella quelle quelli quello quei quel quest questa queste questi questo qui quindi sarà saranno
sarebbe se secondo sei sembra sempre senza si sia siamo siano siccome siete solo soltanto sono sopra
sotto sta stata state stati stato stesso su sua subito sue sugli sui sul sull sulla sulle sullo suo
suoi tale tali tanto te ti tra tramite troppo tu tua tue tuo tuoi tutta tuttavia tutte tutti tutto
un una uno va verso vi voi vostra vostre vostri vostro è
"""
    ),
    "portuguese": (
        """
a acerca ainda além algo alguma algumas alguns algum ali ambos ante antes ao aos apenas apesar após
aquela aquelas aquele aqueles aqui aquilo as assim até bem cada com como contra contudo cuja cujo d
da daquele das de dela delas dele deles depois desde dessa desse desta deste deve devem disso do dos
durante e ela elas ele eles em embora enquanto entre era eram essa essas esse esses esta estado
estamos estar estas estava estavam este estes estou está estão eu fazer foi foram fora fosse havia
há isso isto já la lhe lhes logo mais mas me mediante meio menos mesma mesmas mesmo mesmos meu meus
minha minhas muita muitas muito muitos na nada nas nem nenhum nenhuma nessa nesse nesta neste no nos
nossa nossas nosso nossos num numa nunca não nós o onde os ou outra outras outro outros para pela
pelas pelo pelos perante pode podem pois por porque porquê porém portanto pouca poucas pouco poucos
própria próprio quais qual qualquer quando quanto que quem quê se seja sejam sem sempre sendo ser
será serão seu seus si sido sob sobre sua suas são só talvez também tampouco tanto te tem temos
tenha ter teu teve tinha tinham toda todas todavia todo todos tu tua tudo tão têm um uma umas uns
vai vez vezes você vocês vos à às é
"""
    ),
    "dutch": (
        """
aan aangaande achter af al alle alleen alles als alsnog altijd ander andere anderen anders ben bent
bij bijna binnen boven buiten daar daarin daarmee daarna daarom daaruit dan dat de degene den der
dergelijke deze dezelfde die dient dit doch doen door dus echter een eens eerst elk elke en enige
enkel er erg ergens ervan even gaan geen geweest geworden haar had hadden heb hebben hebt heeft hem
hen het hier hierin hij hoe hoewel hun ieder iedere iedereen iemand iets ik in indien is ja je jij
jou jouw jullie kan kon konden kunnen kunt langs later maar mag me meer meest men met mij mijn moest
moesten moet moeten mogen na naar naast nadat niemand niet niets nog noch nooit nu of ofwel om omdat
onder ons onze ook op opdat over overigens per pas reeds rond sinds slechts sommige steeds te tegen
tenzij terwijl tijdens toch toen tot totdat tussen u uit uw vaak vanaf van vanwege veel verder via
volgens voor vooral voordat vroeger waar waarbij waardoor waarin waarom waarvan wanneer want waren
was wat we weer weinig wel welk welke werd werden wie wij wil wilde willen worden wordt ze zal zelf
zelfs zich zichzelf zij zijn zo zoals zodat zonder zou
zouden zowel zulke zullen
"""
    ),
    "swedish": (
        """
aldrig alla allt alltid alltså andra annan annat att av bakom bara behöver bland blev bli blir
blivit borde bort båda både bör de dem den denna deras dess dessa dessutom det detta dig din dina
dit ditt dock du därför där då efter efterhand eftersom ej eller emot en endast enligt er era ert
ett exempelvis finns fick flera fler framför fram från får få för före förrän först genom ger gick
gjorde gör göra ha hade han hans har hela heller hellre henne hennes hit honom hos hur här hon i
ibland icke igen igenom in inga ingen ingenting innan inne inom inte inuti ja jag ju kan kanske kom
kommer kring kunde kunna känns lika låta man mat med medan mellan men mer mera mest mig min mina
mindre mitt mot mycket måste många ned ner ni nog nu nya någon någonting något några när nära nästan
och också ofta om omkring oss på redan samma samt sedan sen sig sin sina sitt själv ska skall skulle
snart som så sådan sådana sådant särskilt tack till tillbaka trots under upp ur ut utan utanför utom
vad var vara varför varit varje vars vart vem vems vi via vid vilka vilken vilket vill ville våra
vår vårt väl är även åt över
"""
    ),
}
LANGUAGES = ("english", *_LISTS)

LETTERS = re.compile(r"[^\W\d_]+")
MIN_SHARE = 0.12


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of one of `LANGUAGES`, in lower case; KeyError for another."""
    if language == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    return frozenset(_LISTS[language].split())


def guess_language(texts: Iterable[str]) -> tuple[str, float]:
    """Guess the language of some texts from the share of stop words among all words, and return
    both.

    The first 5,000 characters of each text are used. The language is "" if no share reaches
    `MIN_SHARE`, and that of `find_language` for texts whose words a library finds.

    >>> guess_language(["Der Friede und die Zölle, von denen wir nicht reden wollen"])[0]
    'german'
    """
    texts = [text[:5000] for text in texts]
    if (found := find_language(texts))[0] not in ("", SPACES):
        return found
    words: Counter[str] = Counter()
    for text in texts:
        words.update(LETTERS.findall(text.lower()))
    total = max(1, words.total())
    shares = {
        name: sum(words[word] for word in stop_words(name) if word in words) / total
        for name in LANGUAGES
    }
    best = max(shares, key=lambda name: shares[name])
    return (best if shares[best] >= MIN_SHARE else ""), shares[best]


@dataclass(frozen=True)
class WordChoices:
    """Which words are counted.

    Parameters
    ----------
    min_letters : int, optional
        The least number of letters and digits in a word. By default 3; 1 for words in Chinese or
        Japanese script, and 2 for Korean ones.
    keeps_digits : bool
        Whether words may contain digits and "_", such as "covid19" and "new_york". Numbers are
        never counted.
    max_ngram : int
        The largest number of consecutive words that are counted as one phrase.
    min_documents : int, optional
        Words in fewer documents are removed. The default depends on the number of documents, as in
        `limits`.
    max_share : float, optional
        Words in a larger share of the documents are removed. The default depends on the number of
        documents.
    max_words : int
        Of the other words, the most frequent are kept.
    languages : tuple of str
        The languages in `LANGUAGES` whose stop words are removed.
    own_stop_words : str
        More stop words, separated by spaces or commas.
    tokenizer : {"chinese", "japanese", "thai", "korean", "spaces"} or callable, optional
        What finds the words of a text: the library of a language that does not separate them
        (`stickbreaker[chinese]` installs it), or a function that takes a text and returns a list of
        its words, to which the other choices then apply. A library leaves function words out, and
        gives verbs of Japanese and Korean as in a dictionary. By default, the library of the first
        texts if they need one; "spaces" uses none. Files keep a function as "module:name".
    lemmas : str, optional
        The code of a language, such as "en" or "de": the forms of a word, such as "nation" and
        "nations", are counted as its lemma (`stickbreaker[lemmas]` installs the library). By
        default, each form is a word.

    Raises
    ------
    ValueError
        If a value is outside its bounds.
    """

    min_letters: int | None = setting(
        None, "", (1, 30), "fewest letters in a word", whole=True, left_to="the script"
    )
    keeps_digits: bool = setting(True, "", None, "words may contain digits and _")
    max_ngram: int = setting(1, "", (1, MAX_NGRAM), "most consecutive words counted as one phrase")
    min_documents: int | None = setting(
        None,
        "",
        (1, 1_000_000),
        "fewest documents that contain a word",
        whole=True,
        left_to=BY_SIZE,
    )
    max_share: float | None = setting(
        None,
        "",
        (0.001, 1.0),
        "largest share of documents that contain a word",
        whole=False,
        left_to=BY_SIZE,
    )
    max_words: int = setting(50_000, "", (1, MAX_VOCABULARY), "most words in the vocabulary")
    languages: tuple[str, ...] = ("english",)
    own_stop_words: str = ""
    tokenizer: str | Callable[[str], Iterable[str]] | None = None
    lemmas: str | None = None

    def __post_init__(self) -> None:
        check_settings(self)
        object.__setattr__(self, "tokenizer", check_tokenizer(self.tokenizer))
        languages = self.languages
        if isinstance(languages, str):
            languages = (languages,)
        if not isinstance(languages, Iterable):
            raise ValueError(
                f"languages is {languages!r}. Use a tuple of names, or () for no stop words."
            )
        object.__setattr__(self, "languages", tuple(languages))
        if not isinstance(self.own_stop_words, str):
            raise ValueError(
                f"own_stop_words is {self.own_stop_words!r}. Use one string of words, separated by"
                " spaces."
            )
        if unknown := set(self.languages) - set(LANGUAGES):
            raise ValueError(
                f"No stop words for {unknown.pop()!r}. Choose from {', '.join(LANGUAGES)}."
            )
        if self.lemmas is not None and self.lemmas not in LEMMAS:
            raise ValueError(f"No lemmas for {self.lemmas!r}. Choose from {', '.join(LEMMAS)}.")

    def left_out(self) -> frozenset[str]:
        """Return all stop words.

        Returns
        -------
        frozenset of str
            The words in lower case.
        """
        own = re.split(r"[\s,;]+", normalize("NFC", self.own_stop_words).lower())
        return frozenset(own).union(*map(stop_words, self.languages)) - {""}

    def limits(self, num_documents: int) -> tuple[int, float]:
        """Return `min_documents` and `max_share`, with their defaults for a corpus of this size.

        Parameters
        ----------
        num_documents : int
            The number of documents in the corpus.

        Returns
        -------
        min_documents : int
            A word must be in at least this number of documents.
        max_share : float
            A word may be in at most this share of the documents.

        Examples
        --------
        >>> (WordChoices().limits(10), WordChoices().limits(100_000),
        ...  WordChoices(min_documents=3).limits(100))
        ((1, 1.0), (10, 0.2), (3, 0.5))
        """
        min_documents = self.min_documents or min(10, 1 + num_documents // 250)
        if self.max_share is not None:
            return min_documents, self.max_share
        if num_documents < 20:
            return min_documents, 1.0
        return min_documents, 0.2 if num_documents >= 1000 else 0.5


def read_choices(described: Mapping[str, Any] | None) -> WordChoices | None:
    """The word choices that a file describes with the values of `asdict`; None without any."""
    return None if described is None else WordChoices(**described)


def check_choices(name: str, value: object) -> None:
    """Raise TypeError that names an argument if it is neither `WordChoices` nor None."""
    if value is not None and not isinstance(value, WordChoices):
        raise TypeError(
            f"{name} is {value!r:.80}: give WordChoices, such as"
            ' WordChoices(languages=("german",)), or None.'
        )
