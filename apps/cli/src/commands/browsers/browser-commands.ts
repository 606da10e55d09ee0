import type { Command } from "commander";
import type { Adding, GlobalFlags, OutputFormat } from "../../core/types.ts";
import { examplesHelp, fileOption, outputOption } from "../command-line.ts";
import { currentSessionId } from "../../connection/current-session.ts";
import { addSessionArguments, sessionArguments } from "../session-argument.ts";

const session = ["<id-or-name>", "ID or name of the session"] as const;
const fileNames = { id: "<id-or-name>", path: "<path>", mode: "--mode", recursive: "--recursive" };
const uploadNames = { id: "<id-or-name>", dest_path: "--to", zip_file: "<archive>", files: "<files>" };

type Flags = GlobalFlags & {
  readonly output: OutputFormat;
  readonly to: string;
  readonly file?: string;
  readonly mode?: string;
  readonly recursive?: boolean;
};

export function addBrowserCommands(adding: Adding): void {
  addView(adding);
  addReadFile(adding);
  addWriteFile(adding);
  addUpload(adding);
  addUploadZip(adding);
  addDownloadZip(adding);
  addExtensionUpload(adding);
  addFollow(adding);
  addAttach(adding);
}

function register({ names, specs, specOf }: Adding, command: Command, fields: Readonly<Record<string, string>>): void {
  names.set(command, fields);
  specs.set(command, specOf("browsers.fs.readFile"));
}

function addView({ groupFor, run, specOf }: Adding): void {
  addSessionArguments(groupFor(["browsers"]).command("view"))
    .description("Print the URL of a session's live view")
    .option("--read-only", "Print the URL of a view without input")
    .addOption(outputOption())
    .addHelpText("after", examplesHelp(["shoal browsers view research", "shoal browsers view research --read-only"]))
    .action(async (_id: unknown, _options: unknown, command: Command) => {
      const [id = ""] = sessionArguments(command, run);
      const { viewBrowser } = await import("./view.ts");
      await viewBrowser(specOf("browsers.get"), id, command.optsWithGlobals<Flags>(), run);
    });
}

function addReadFile(adding: Adding): void {
  const { groupFor, run, specOf } = adding;
  const command = addSessionArguments(groupFor(["browsers", "fs"]).command("read-file"), [
    ["path", "Absolute path in the session"],
  ])
    .addOption(fileOption("write"))
    .summary("Read a file")
    .description(
      "Print a file of the session, or save it locally\n\nA terminal gets control characters escaped, unless -f - is given.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers fs read-file research /home/shoal/Downloads/report.pdf -f report.pdf",
        "shoal browsers fs read-file research /home/shoal/notes.txt | less",
      ]),
    )
    .action(async (_id: unknown, _path: unknown, _options: unknown, command: Command) => {
      const [id = "", path = ""] = sessionArguments(command, run);
      const { readFile } = await import("./files.ts");
      await readFile(specOf("browsers.fs.readFile"), { id, path }, command.optsWithGlobals<Flags>(), run);
    });
  register(adding, command, fileNames);
}

function addWriteFile(adding: Adding): void {
  const { groupFor, run, specOf } = adding;
  const command = addSessionArguments(groupFor(["browsers", "fs"]).command("write-file"), [
    ["path", "Absolute path in the session"],
  ])
    .addOption(fileOption("read"))
    .option("--mode <octal>", "Permissions of a new file (default: 644)")
    .summary("Write a file")
    .description("Write a file of the session from a local file or stdin\n\nReplaces an existing file atomically.")
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers fs write-file research /home/shoal/input.csv -f input.csv",
        "echo hello | shoal browsers fs write-file research /home/shoal/hello.txt",
      ]),
    )
    .action(async (_id: unknown, _path: unknown, _options: unknown, command: Command) => {
      const [id = "", path = ""] = sessionArguments(command, run);
      const { writeFile } = await import("./files.ts");
      await writeFile(specOf("browsers.fs.writeFile"), { id, path }, command.optsWithGlobals<Flags>(), run);
    });
  register(adding, command, fileNames);
}

function addUpload(adding: Adding): void {
  const { groupFor, run, specOf } = adding;
  const command = groupFor(["browsers", "fs"])
    .command("upload")
    .argument(...session)
    .argument("<files...>", "Local files")
    .requiredOption("--to <directory>", "Absolute path of a directory in the session; created if missing (required)")
    .summary("Upload files")
    .description("Upload local files into a directory of the session\n\nUploads no file if one fails.")
    .addHelpText("after", examplesHelp(["shoal browsers fs upload research a.csv b.csv --to /home/shoal/work"]))
    .action(async (id: string, files: string[], _options: unknown, command: Command) => {
      const { uploadFiles } = await import("./files.ts");
      await uploadFiles(specOf("browsers.fs.upload"), { id, files }, command.optsWithGlobals<Flags>(), run);
    });
  register(adding, command, uploadNames);
}

function addUploadZip(adding: Adding): void {
  const { groupFor, run, specOf } = adding;
  const command = addSessionArguments(groupFor(["browsers", "fs"]).command("upload-zip"), [
    ["archive", "Local ZIP archive, or - for stdin"],
  ])
    .requiredOption("--to <directory>", "Absolute path of the target directory; created if missing (required)")
    .summary("Upload a ZIP archive and unpack it")
    .description(
      "Upload a ZIP archive and unpack it into a directory of the session\n\nUnpacks nothing if the archive is invalid or contains paths outside the directory.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers fs upload-zip research site.zip --to /home/shoal/site",
        "shoal browsers fs download-dir-zip old /home/shoal/site | shoal browsers fs upload-zip new - --to /home/shoal/site",
      ]),
    )
    .action(async (_id: unknown, _archive: unknown, _options: unknown, command: Command) => {
      const [id = "", archive = ""] = sessionArguments(command, run);
      const { uploadZip } = await import("./files.ts");
      await uploadZip(specOf("browsers.fs.uploadZip"), { id, archive }, command.optsWithGlobals<Flags>(), run);
    });
  register(adding, command, uploadNames);
}

function addDownloadZip(adding: Adding): void {
  const { groupFor, run, specOf } = adding;
  const command = addSessionArguments(groupFor(["browsers", "fs"]).command("download-dir-zip"), [
    ["path", "Absolute path of a directory in the session"],
  ])
    .addOption(fileOption("write"))
    .description("Download a directory of the session as a ZIP archive")
    .addHelpText(
      "after",
      examplesHelp(["shoal browsers fs download-dir-zip research /home/shoal/Downloads -f downloads.zip"]),
    )
    .action(async (_id: unknown, _path: unknown, _options: unknown, command: Command) => {
      const [id = "", path = ""] = sessionArguments(command, run);
      const { downloadZip } = await import("./files.ts");
      await downloadZip(specOf("browsers.fs.downloadDirZip"), { id, path }, command.optsWithGlobals<Flags>(), run);
    });
  register(adding, command, fileNames);
}

function addExtensionUpload(adding: Adding): void {
  const { groupFor, run, specOf } = adding;
  const command = groupFor(["browsers", "extensions"])
    .command("upload")
    .argument(...session)
    .argument("<paths...>", "Local folders or ZIP archives of unpacked extensions")
    .summary("Load extensions into a running session")
    .description(
      "Load local extensions into a running session\n\nThe browser may restart, which disconnects CDP clients.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers extensions upload research ./my-extension",
        "shoal browsers extensions upload research blocker.zip ./helper",
      ]),
    )
    .action(async (id: string, paths: string[], _options: unknown, command: Command) => {
      const { loadExtensions } = await import("./files.ts");
      await loadExtensions(specOf("browsers.loadExtensions"), { id, paths }, command.optsWithGlobals<Flags>(), run);
    });
  register(adding, command, { id: "<id-or-name>", extensions: "<paths>" });
}

function addFollow(adding: Adding): void {
  const { groupFor, run, specOf } = adding;
  const command = addSessionArguments(groupFor(["browsers", "fs", "watch"]).command("follow", { isDefault: true }), [
    ["path", "Absolute path of a directory in the session"],
  ])
    .option("-r, --recursive", "Include subdirectories")
    .addOption(outputOption())
    .summary("Follow changes in a directory until Ctrl-C")
    .description("Follow changes in a directory until Ctrl-C\n\nShort form: shoal browsers fs watch ID PATH.")
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers fs watch research /home/shoal/Downloads",
        "shoal browsers fs watch research /home/shoal --recursive -o jsonl",
      ]),
    )
    .action(async (_id: unknown, _path: unknown, _options: unknown, command: Command) => {
      const [id = "", path = ""] = sessionArguments(command, run);
      const { followDirectory } = await import("./follow-directory.ts");
      await followDirectory(
        {
          start: specOf("browsers.fs.watch.start"),
          events: specOf("browsers.fs.watch.events"),
          stop: specOf("browsers.fs.watch.stop"),
        },
        { id, path },
        command.optsWithGlobals<Flags>(),
        run,
      );
    });
  register(adding, command, fileNames);
}

function addAttach({ groupFor, names, run, specOf }: Adding): void {
  const command = groupFor(["browsers", "process"])
    .command("attach")
    .argument("[id-or-name]", "ID or name of the session (default: SHOAL_SESSION, or this terminal's)")
    .argument("[process-id]", "ID of a process started with --allocate-tty (default: a new shell)")
    .summary("Open a shell, or attach to a process")
    .description(
      "Open a shell in a session, or attach to the terminal of a process\n\nCtrl-] detaches and leaves the process running. Otherwise the command ends with the process and exits with its status.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal browsers process attach research",
        "shoal browsers process attach research 182bd5e5-6e1a-4fe4-a799-aa6d9a6ab26e",
        "echo 'ls -la' | shoal browsers process attach research",
      ]),
    )
    .action(async (named: string | undefined, processId: string | undefined, _options: unknown, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const id = currentSessionId(named, flags, run);
      const { attach } = await import("./attach.ts");
      await attach(
        {
          get: specOf("browsers.get"),
          spawn: specOf("browsers.process.spawn"),
          status: specOf("browsers.process.status"),
        },
        { id, processId },
        flags,
        run,
      );
    });
  names.set(command, { id: "<id-or-name>", id_or_name: "<id-or-name>", process_id: "[process-id]" });
}
