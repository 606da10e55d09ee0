import type { Polish } from "../polish.ts";

const exampleWatch = "ouhlg8brk2fbv6ydoi7vmbof";

/** Files of a session. What moves files has commands of its own. */
export const filePolish: Readonly<Record<string, Polish>> = {
  "browsers.fs.listFiles": {
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
  "browsers.fs.fileInfo": { arguments: ["path"], examples: ["shoal browsers fs file-info research /home/shoal/Downloads/report.pdf"] },
  "browsers.fs.createDirectory": {
    alias: ["new-directory"],
    arguments: ["path"],
    done: "Created {1}.",
    examples: ["shoal browsers fs create-directory research /home/shoal/work"],
  },
  "browsers.fs.deleteFile": {
    arguments: ["path"],
    confirm: "Delete {1} in browser {0}?",
    done: "Deleted {1}.",
    examples: [
      "shoal browsers fs delete-file research /home/shoal/work/a.txt",
      "shoal browsers fs delete-file research /home/shoal/work/a.txt --yes",
    ],
  },
  "browsers.fs.deleteDirectory": {
    arguments: ["path"],
    confirm: "Delete {1} in browser {0} with everything in it?",
    done: "Deleted {1}.",
    examples: [
      "shoal browsers fs delete-directory research /home/shoal/work",
      "shoal browsers fs delete-directory research /home/shoal/work --missing-ok --yes",
    ],
  },
  "browsers.fs.setFilePermissions": {
    words: ["browsers", "fs", "set-permissions"],
    arguments: ["path", "mode"],
    done: "Changed {1}.",
    examples: ["shoal browsers fs set-permissions research /home/shoal/run.sh 755"],
  },
  "browsers.fs.move": {
    arguments: ["src_path", "dest_path"],
    done: "Moved {1} to {2}.",
    examples: ["shoal browsers fs move research /home/shoal/a.txt /home/shoal/b.txt"],
  },
  "browsers.fs.watch.start": {
    arguments: ["path"],
    flags: { recursive: "-r, --recursive" },
    examples: ["shoal browsers fs watch start research /home/shoal/Downloads --recursive"],
  },
  "browsers.fs.watch.events": {
    examples: [
      `shoal browsers fs watch events research ${exampleWatch}`,
      `shoal browsers fs watch events research ${exampleWatch} -o jsonl | jq -r .path`,
    ],
  },
  "browsers.fs.watch.stop": { done: "Stopped watch {1}.", examples: [`shoal browsers fs watch stop research ${exampleWatch}`] },
};
