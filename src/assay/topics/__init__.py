"""What is known of each subject, one folder a subject; the engine finds them by place (assay.catalogue.topics)."""
