"""OpenTelemetry GenAI: spans of any instrumented agent, imported from OTLP JSON files."""
