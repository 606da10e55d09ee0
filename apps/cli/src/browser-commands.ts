import type { Command } from "commander";
import type { GlobalFlags } from "./connect.ts";
import { examplesHelp, outputOption } from "./command-line.ts";
import type { OutputFormat } from "./output.ts";
import type { Adding } from "./program.ts";

const session = ["<id-or-name>", "The session's id or name."] as const;
const toFile = ["-f, --file <path>", "Write to this file, or into this folder; to stdout without it, or with -."] as const;

/** What commands get of their flags; which of them are there is in each one's declaration. */
type Flags = GlobalFlags & {
  readonly output: OutputFormat;
  readonly to: string;
  readonly file?: string;
  readonly mode?: string;
  readonly recursive?: boolean;
};

/** Commands of sessions that are more than one call, or that move files. @returns the operations that they stand for. */
export function addBrowserCommands({ groupFor, run, names, specs, specOf }: Adding): Set<string> {
  const fs = groupFor(["browsers", "fs"]);
  const watch = groupFor(["browsers", "fs", "watch"]);
  const flagsOf = (command: Command) => command.optsWithGlobals<Flags>();

  groupFor(["browsers"])
    .command("view")
    .argument(...session)
    .summary("Print the address of a session's live view.")
    .description("Prints the address of a session's live view.")
    .option("--read-only", "The address that only shows, and takes no input.")
    .addOption(outputOption())
    .addHelpText("after", examplesHelp(["shoal browsers view research", "shoal browsers view research --read-only"]))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { viewBrowser } = await import("./view.ts");
      await viewBrowser(specOf("browsers.get"), id, flagsOf(command), run);
    });

  const readFile = fs
    .command("read-file")
    .argument(...session)
    .argument("<path>", "Absolute path in the session.")
    .option(...toFile)
    .summary("Read a file.")
    .description(
      "Reads a file of the session, to stdout or into a file. On a terminal, control characters are shown instead of sent; -f - sends every byte.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers fs read-file research /home/shoal/Downloads/report.pdf -f report.pdf",
        "shoal browsers fs read-file research /home/shoal/notes.txt | less",
      ]),
    )
    .action(async (id: string, path: string, _options: unknown, command: Command) => {
      const transfers = await import("./transfers.ts");
      await transfers.readFile(specOf("browsers.fs.readFile"), { id, path }, flagsOf(command), run);
    });

  const writeFile = fs
    .command("write-file")
    .argument(...session)
    .argument("<path>", "Absolute path in the session.")
    .option("-f, --file <path>", "Read from this file; from stdin without it, or with -.")
    .option("--mode <octal>", "Permissions, 644 when absent.")
    .summary("Write a file.")
    .description("Writes a file of the session, from stdin or from a file: whole, or not at all.")
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers fs write-file research /home/shoal/input.csv -f input.csv",
        "echo hello | shoal browsers fs write-file research /home/shoal/hello.txt",
      ]),
    )
    .action(async (id: string, path: string, _options: unknown, command: Command) => {
      const transfers = await import("./transfers.ts");
      await transfers.writeFile(specOf("browsers.fs.writeFile"), { id, path }, flagsOf(command), run);
    });

  const upload = fs
    .command("upload")
    .argument(...session)
    .argument("<files...>", "Files of this machine.")
    .requiredOption("--to <directory>", "Absolute path of a directory in the session; made when missing.")
    .summary("Upload files.")
    .description("Uploads files into a directory of the session: all of them, or none when one fails.")
    .addHelpText("after", examplesHelp(["shoal browsers fs upload research a.csv b.csv --to /home/shoal/work"]))
    .action(async (id: string, files: string[], _options: unknown, command: Command) => {
      const transfers = await import("./transfers.ts");
      await transfers.uploadFiles(specOf("browsers.fs.upload"), { id, files }, flagsOf(command), run);
    });

  const uploadZip = fs
    .command("upload-zip")
    .argument(...session)
    .argument("<archive>", "A ZIP file of this machine, or - for stdin.")
    .requiredOption("--to <directory>", "Absolute path of the directory that it is unpacked into; made when missing.")
    .summary("Upload a ZIP archive and unpack it.")
    .description("Uploads a ZIP archive and unpacks it into a directory of the session: whole, or not at all.")
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers fs upload-zip research site.zip --to /home/shoal/site",
        "shoal browsers fs download-dir-zip old /home/shoal/site | shoal browsers fs upload-zip new - --to /home/shoal/site",
      ]),
    )
    .action(async (id: string, archive: string, _options: unknown, command: Command) => {
      const transfers = await import("./transfers.ts");
      await transfers.uploadZip(specOf("browsers.fs.uploadZip"), { id, archive }, flagsOf(command), run);
    });

  const downloadZip = fs
    .command("download-dir-zip")
    .argument(...session)
    .argument("<path>", "Absolute path of a directory in the session.")
    .option(...toFile)
    .summary("Download a directory as a ZIP archive.")
    .description("Downloads a directory of the session as a ZIP archive.")
    .addHelpText("after", examplesHelp(["shoal browsers fs download-dir-zip research /home/shoal/Downloads -f downloads.zip"]))
    .action(async (id: string, path: string, _options: unknown, command: Command) => {
      const transfers = await import("./transfers.ts");
      await transfers.downloadZip(specOf("browsers.fs.downloadDirZip"), { id, path }, flagsOf(command), run);
    });

  const extensions = groupFor(["browsers", "extensions"])
    .command("upload")
    .argument(...session)
    .argument("<paths...>", "Folders of unpacked extensions, or ZIP archives of them.")
    .summary("Load extensions into a running session.")
    .description(
      "Loads extensions into a running session: folders, which are packed, or ZIP archives. CDP clients may lose their connection, where the browser has to be started again for it.",
    )
    .addHelpText(
      "after",
      examplesHelp(["shoal browsers extensions upload research ./my-extension", "shoal browsers extensions upload research blocker.zip ./helper"]),
    )
    .action(async (id: string, paths: string[], _options: unknown, command: Command) => {
      const transfers = await import("./transfers.ts");
      await transfers.loadExtensions(specOf("browsers.loadExtensions"), { id, paths }, flagsOf(command), run);
    });

  const follow = watch
    .command("follow", { isDefault: true })
    .argument(...session)
    .argument("<path>", "Absolute path of a directory in the session.")
    .option("-r, --recursive", "Directories below it too.")
    .addOption(outputOption())
    .summary("Print changes of a directory as they come, until Ctrl-C.")
    .description("Starts a watch, prints its events as they come, and stops it on Ctrl-C. `shoal browsers fs watch ID PATH` does the same.")
    .addHelpText(
      "after",
      examplesHelp(["shoal browsers fs watch research /home/shoal/Downloads", "shoal browsers fs watch research /home/shoal --recursive -o jsonl"]),
    )
    .action(async (id: string, path: string, _options: unknown, command: Command) => {
      const { followDirectory } = await import("./follow.ts");
      await followDirectory(
        { start: specOf("browsers.fs.watch.start"), events: specOf("browsers.fs.watch.events"), stop: specOf("browsers.fs.watch.stop") },
        { id, path },
        flagsOf(command),
        run,
      );
    });

  const attached = groupFor(["browsers", "process"])
    .command("attach")
    .argument(...session)
    .argument("[process-id]", "A process that was started with --allocate-tty; a new shell when absent.")
    .summary("Open a shell in a session, or go to a process's terminal.")
    .description(
      "Joins this terminal with that of a process of the session: keys, output and size. Without a process it starts a shell there. Ctrl-] leaves, and the process runs on; else the command ends with it, and with its exit status.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers process attach research",
        "shoal browsers process attach research 182bd5e5-6e1a-4fe4-a799-aa6d9a6ab26e",
        "echo 'ls -la' | shoal browsers process attach research",
      ]),
    )
    .action(async (id: string, processId: string | undefined, _options: unknown, command: Command) => {
      const { attach } = await import("./attach.ts");
      await attach(
        { get: specOf("browsers.get"), spawn: specOf("browsers.process.spawn"), status: specOf("browsers.process.status") },
        { id, processId },
        flagsOf(command),
        run,
      );
    });

  names.set(attached, { id: "<id-or-name>", id_or_name: "<id-or-name>", process_id: "[process-id]" });
  for (const command of [readFile, writeFile, downloadZip, follow])
    names.set(command, { id: "<id-or-name>", path: "<path>", mode: "--mode", recursive: "--recursive" });
  for (const command of [upload, uploadZip]) names.set(command, { id: "<id-or-name>", dest_path: "--to", zip_file: "<archive>", files: "<files>" });
  names.set(extensions, { id: "<id-or-name>", extensions: "<paths>" });
  for (const command of [readFile, writeFile, downloadZip, follow, upload, uploadZip, extensions]) specs.set(command, specOf("browsers.fs.readFile"));
  return new Set([
    "browsers.fs.readFile",
    "browsers.fs.writeFile",
    "browsers.fs.upload",
    "browsers.fs.uploadZip",
    "browsers.fs.downloadDirZip",
    "browsers.loadExtensions",
  ]);
}
