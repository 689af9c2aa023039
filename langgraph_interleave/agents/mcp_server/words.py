"""What the server says of itself: models decide by these words which tool to call, and with what."""

from __future__ import annotations

NAME = "langgraph-interleave"
TITLE = "Illustrated documents"

INSTRUCTIONS = """\
Makes illustrated step-by-step documents: how-tos, storyboards, product guides, worked examples. Each step has its
picture and its words; pictures follow from each other, and each is judged and drawn again where it falls short.

create_document answers within wait_seconds: with the document, or with a document_id while it is being made. Then
call get_document with that id until it is done; a document is made whether anybody waits or not. Never call
create_document again for the same thing because it takes long.

To change a document, call revise_document with its id and what should be otherwise: only the steps that the change
touches are drawn again, and earlier versions stay. Pictures are called doc_….step_2; give that name to edit_image, or
in `images`. Show the pictures to the user in order, each with its caption, and pass on marks such as
"not accepted by the critic" honestly."""

CREATE = """\
Make an illustrated step-by-step document from a request in words. The request is passed on to a planner that lays out
the steps: say what it should show, for whom, how many steps, and what must stay the same. Returns the document (its
words, small pictures, links to all of it), or, if it takes longer than wait_seconds, a document_id for get_document."""

REVISE = """\
Change a document: say only what should be otherwise ("make step 3 darker", "add a step after 2", "the same in
watercolour", "in French"). Only steps the change touches are drawn again. The result is a new version of the document;
earlier versions stay and can be changed, too. A picture in `images` is something the user did or wants used."""

GET = """\
Get a document, and wait for it up to wait_seconds if it is still being made. Also for an earlier version, or for the
pictures in full size."""

GENERATE = """\
Draw one picture from a description. It is judged against the description and drawn again where it falls short. For
several pictures that belong together use create_document."""

EDIT = """\
Change one picture as told, keeping the rest of it. The picture is one of a document (doc_….step_2), its
interleave://artifact/… address, or a data: URL. The edit is judged and made again where it falls short."""

CANCEL = """\
Stop making a document, in good order: what was drawn so far is kept and can be got with get_document. A change that is
stopped leaves the document in the version it was in. Use it when the user no longer wants it; merely no longer waiting
for it needs nothing."""

REQUEST = "What the document should show, in the user's words, with all details that matter."
CHANGE = "What should be otherwise, in words. Steps are called by the numbers the document shows."
PROMPT = "The picture, described in full: what is in it, how many, which colours, where."
EDIT_PROMPT = "What should be otherwise in the picture, in words."
IMAGE = "The picture: doc_….step_2, interleave://artifact/…, or data:image/png;base64,…"
IMAGES = """\
Pictures to start from, in order: doc_….step_2, interleave://artifact/…, or data:image/png;base64,… No paths and no web
addresses."""
STEPS = "Number of steps, if it must be exact."
SIZE = "Size of each picture in pixels, such as 768x512. Leave it out for the server's own."
STYLE = 'The look all pictures share, such as "watercolour, muted colours".'
LANGUAGE = "Language of the captions, such as fr or German. Leave it out for that of the request."
SEED = "Another number gives other pictures for the same words."
DOCUMENT_ID = "The document_id, as create_document returned it."
VERSION = "Which version; the newest that came to something if left out."
WAIT = "Seconds to wait for the result, at most 300. Less than your own time limit for a tool call."
SEE = "Pictures in the answer: small ones (thumbnails), as drawn (full), or links only (none)."
