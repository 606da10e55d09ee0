import type { CommandEntry } from "../../core/types.ts";

const exampleWatch = "ouhlg8brk2fbv6ydoi7vmbof";

/** Handwritten commands transfer files. */
export const fileEntries: Readonly<Record<string, CommandEntry>> = {
  "browsers.fs.readFile": { handwritten: true },
  "browsers.fs.writeFile": { handwritten: true },
  "browsers.fs.upload": { handwritten: true },
  "browsers.fs.uploadZip": { handwritten: true },
  "browsers.fs.downloadDirZip": { handwritten: true },
  "browsers.fs.listFiles": {
    summary: "List a directory",
    about: "One level, sorted by name.",
    arguments: ["path"],
    columns: [
      ["MODE", "mode"],
      ["SIZE", "size_bytes"],
      ["CHANGED", "mod_time"],
      ["NAME", "name"],
    ],
    empty: "The directory is empty.",
    examples: ["shoal browsers fs list-files research /home/shoal/Downloads"],
  },
  "browsers.fs.fileInfo": {
    summary: "Show a file or directory",
    about: "Describes a symbolic link itself, not its target.",
    arguments: ["path"],
    examples: ["shoal browsers fs file-info research /home/shoal/Downloads/report.pdf"],
  },
  "browsers.fs.createDirectory": {
    summary: "Create a directory",
    about: "Also creates missing parent directories.",
    help: { mode: "Permissions in octal; default: 755" },
    alias: ["new-directory"],
    arguments: ["path"],
    done: "Created {1}.",
    examples: ["shoal browsers fs create-directory research /home/shoal/work"],
  },
  "browsers.fs.deleteFile": {
    summary: "Delete a file",
    about: "Deletes a symbolic link itself, not its target.",
    arguments: ["path"],
    confirm: "Delete {1} in browser {0}?",
    done: "Deleted {1}.",
    examples: [
      "shoal browsers fs delete-file research /home/shoal/work/a.txt",
      "shoal browsers fs delete-file research /home/shoal/work/a.txt --yes",
    ],
  },
  "browsers.fs.deleteDirectory": {
    summary: "Delete a directory and its content",
    about: "Refuses to delete /, the home directory and mount points.",
    arguments: ["path"],
    confirm: "Delete {1} in browser {0} and its content?",
    done: "Deleted {1}.",
    examples: [
      "shoal browsers fs delete-directory research /home/shoal/work",
      "shoal browsers fs delete-directory research /home/shoal/work --missing-ok --yes",
    ],
  },
  "browsers.fs.setFilePermissions": {
    summary: "Set permissions and owner",
    about: "Like chmod and chown.",
    words: ["browsers", "fs", "set-permissions"],
    arguments: ["path", "mode"],
    done: "Changed {1}.",
    examples: ["shoal browsers fs set-permissions research /home/shoal/run.sh 755"],
  },
  "browsers.fs.move": {
    summary: "Move or rename a file or directory",
    about: "Atomic within one filesystem; otherwise copies first and then renames.",
    arguments: ["src_path", "dest_path"],
    done: "Moved {1} to {2}.",
    examples: ["shoal browsers fs move research /home/shoal/a.txt /home/shoal/b.txt"],
  },
  "browsers.fs.watch.start": {
    summary: "Start to watch a directory",
    about: "Changes are buffered until a reader collects them with shoal browsers fs watch events.",
    arguments: ["path"],
    flags: { recursive: "-r, --recursive" },
    examples: ["shoal browsers fs watch start research /home/shoal/Downloads --recursive"],
  },
  "browsers.fs.watch.events": {
    summary: "Follow a directory watch",
    about: "Starts with the oldest buffered event. Ends when the watch is stopped or the directory is deleted.",
    examples: [
      `shoal browsers fs watch events research ${exampleWatch}`,
      `shoal browsers fs watch events research ${exampleWatch} -o jsonl | jq -r .path`,
    ],
  },
  "browsers.fs.watch.stop": {
    summary: "Stop a directory watch",
    about: "Readers get the remaining events, and then their streams end.",
    done: "Stopped watch {1}.",
    examples: [`shoal browsers fs watch stop research ${exampleWatch}`],
  },
};
