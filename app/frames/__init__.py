"""Results as tidy data frames and as sentences. Pure: no widget and no plot."""
