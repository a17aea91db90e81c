"""The fleet: transcripts on folders or object storage, read as tasks on Ray; results as Parquet, reports by DuckDB.

Heavy, and an extra of the package (`preheat[fleet]`): only the commands of the fleet import it. Knows nothing of how a session
is analysed or how lessons are concluded: those functions are passed in, the ones of one machine.
"""
