"""What several algorithms share: topic counts, local steps, global steps, priors, merging."""
