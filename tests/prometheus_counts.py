"""Counts as Prometheus reads them."""

from prometheus_client.parser import text_string_to_metric_families


def counts(text):
    """Return the values by name and labels, the labels in the order of their names."""
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(one.name, *(one.labels[name] for name in sorted(one.labels))): one.value for one in samples}
