"""One document model (headings, sentences, tables, bars, figures) and its renderers: terminal, Markdown, HTML."""
