"""What the tests of `muster check --html` know about its pages."""
import html.parser
import subprocess

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(html.parser.HTMLParser):
    """Parses a page; `faults` says what is not well formed in it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.faults = []
        self.ids = []
        self.references = []  # what refers to an id
        self.rows = []  # the attributes of each row of a diagram
        self.tags = []
        self.words = []
        self.open = []
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if len(values) != len(attributes):
            self.faults.append(f"<{tag}> has an attribute twice")
        self.tags.append((tag, values))
        if "id" in values:
            self.ids.append(values["id"])
        if values.get("href", "").startswith("#"):
            self.references.append(values["href"][1:])
        if "data-shows" in values:
            self.references.append(values["data-shows"])
        if tag == "li" and "data-events" in values:
            self.rows.append(values)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:]}, line {self.getpos()[0]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        self.words.append(data)

    def text(self):
        return "".join(self.words)


def scene_of(row):
    """Rows are numbered within their execution: c0-rdma-f-e12 is of c0-rdma-f."""
    return row["id"].rpartition("-")[0]


def write_page(muster, arguments, path, statuses=(0, 1)):
    """Runs `muster check` so that it writes the page, and returns its text."""
    run = subprocess.run([muster, "check", *arguments, "--html", path], capture_output=True, text=True)
    if run.returncode not in statuses:
        raise SystemExit(f"muster check {arguments}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    with open(path, encoding="utf-8") as file:  # which fails where it is no UTF-8
        return file.read()
