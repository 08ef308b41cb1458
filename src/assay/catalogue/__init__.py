"""What can be measured: topics, benchmarks, declarations, applications, found by place and by entry point."""
