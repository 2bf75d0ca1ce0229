"""From analysis to what people read: a report is a document of tables and charts, written down as a file.

report                           what stands in one, in order
document                         what it is made of
problems, rankings, scores,      its sections
curves, taxonomy_and_settings
panel, wording                   agents that are compared; how numbers and names are written
html, markdown, latex,           how it is written down; templates/ has the page
comma_separated
chart, figure                    a chart on a page; a chart as a file
"""
