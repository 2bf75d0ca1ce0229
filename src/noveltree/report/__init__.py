"""From analysis to what people read: a report is a document of tables and charts, written down as a file.

`report` says what stands in one, in the order in which it stands there; `document` what it is made of; `html`,
`markdown`, `latex` and `comma_separated` how it is written down.
"""
