// The patch language as the model is told it: a grammar for providers that constrain the text, and the description of the tool.

export const PATCH_GRAMMAR = `start: BEGIN section+ END
BEGIN: "*** Begin Patch" NL
END: "*** End Patch" NL?

section: added | deleted | updated
added: "*** Add File: " PATH NL plus*
deleted: "*** Delete File: " PATH NL
updated: "*** Update File: " PATH NL (moved block* | block+)
moved: "*** Move to: " PATH NL

block: anchor+ edit+ at_end? | edit+ at_end?
anchor: "@@" (" " TEXT)? NL
edit: plus | minus | same
plus: "+" TEXT? NL
minus: "-" TEXT? NL
same: " " TEXT? NL
at_end: "*** End of File" NL

PATH: /[^\\n]+/
TEXT: /[^\\n]+/
NL: /\\n/
`;

export const PATCH_DESCRIPTION = `Changes files. The argument is the patch itself: plain text, not JSON, not a shell command, no code fence around it.

*** Begin Patch
*** Add File: docs/new.md
+each line of the new file starts with a plus
*** Update File: src/app.py
*** Move to: src/main.py
@@ class Server:
@@     def start(self):
         self.prepare()
-        self.run()
+        self.run(quiet=True)
*** Delete File: old.txt
*** End Patch

Paths are relative to the working folder; absolute paths work too. In an update each line starts with a space (unchanged), a minus (removed) or a plus (added). Give about three unchanged lines before and after a change, copied exactly. Where those are not unique, name the place with one or more "@@" lines, outermost first, each holding one whole line of the file. Keep the hunks of a file in file order. Lines that are only added go right after their "@@" line, or at the end of the file when there is none. "*** End of File" after a hunk ties it to the end of the file. "*** Move to:" is optional. Nothing is written unless every hunk of every file fits.`;
