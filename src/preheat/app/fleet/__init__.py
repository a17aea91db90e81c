"""The fleet as an area of the application: analyse transcripts on a cluster, report on the results, list and publish lessons."""
