import type { Command } from "commander";
import type { Adding } from "../../core/types.ts";
import { examplesHelp, outputOption } from "../command-line.ts";
import type { CopyFlags } from "./copy.ts";
import type { ListProcessesFlags } from "./list-processes.ts";
import type { TopFlags } from "./top/top.ts";

const heading = "Files, processes and load of sessions:";
const names = { id: "<session>", path: "<paths>", dest_path: "<paths>" };

/** Adds the short commands for files, processes and load. Their code loads when one of them runs. */
export function addSessionCommands(adding: Adding): void {
  addCopy(adding);
  addProcesses(adding);
  addTop(adding);
}

function addCopy({ groupFor, names: fields, run, specOf }: Adding): void {
  const command = groupFor([])
    .command("cp")
    .helpGroup(heading)
    .argument(
      "<paths...>",
      "Sources and a destination: local paths, SESSION:/path, :/path for the current session, or -",
    )
    .option("-r, --recursive", "Copy directories with their content")
    .option("--force", "Replace files of an existing local directory, and add hidden ones")
    .summary("Copy files between this machine and a session")
    .description(
      "Copy files between this machine and a session\n\nPaths without a leading slash start in /home/shoal. - is stdin or stdout. A local name with a colon needs a slash before it: ./a:b. Symbolic links of a session are not copied.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal cp report.csv research:",
        "shoal cp research:Downloads/report.pdf .",
        "shoal cp -r ./site research:/home/shoal/site",
        "pg_dump shop | shoal cp - :dump.sql",
      ]),
    )
    .action(async (paths: string[], _options: unknown, called: Command) => {
      const { Copy } = await import("./copy.ts");
      await new Copy(specOf, called.optsWithGlobals<CopyFlags>(), run).run(paths);
    });
  fields.set(command, names);
}

function addProcesses({ groupFor, likeOperation, names: fields, run, specOf }: Adding): void {
  const command = groupFor([])
    .command("ps")
    .helpGroup(heading)
    .argument("[id-or-name]", "ID or name of the session (default: SHOAL_SESSION, or this terminal's)")
    .option("-a, --all", "Include processes that have ended")
    .addOption(outputOption())
    .summary("List the processes of a session")
    .description(
      "List the processes of a session\n\nShows running processes that were started with shoal browsers process spawn or attach.",
    )
    .addHelpText("after", examplesHelp(["shoal ps", "shoal ps research --all", "shoal ps -o jsonl"]))
    .action(async (session: string | undefined, _options: unknown, called: Command) => {
      const { listProcesses } = await import("./list-processes.ts");
      await listProcesses(specOf("browsers.process.list"), session, called.optsWithGlobals<ListProcessesFlags>(), run);
    });
  fields.set(command, { id: "[id-or-name]" });
  likeOperation.set(command, "browsers.process.list");
}

function addTop({ groupFor, run, specOf }: Adding): void {
  groupFor([])
    .command("top")
    .helpGroup(heading)
    .addOption(outputOption())
    .summary("Show the load of all sessions, live")
    .description(
      "Show the load of all sessions, live\n\nUpdates every two seconds. q quits, arrow keys select, s changes the order, r reverses it, k ends the selected session after a question. Without a terminal, prints the table once.",
    )
    .addHelpText("after", examplesHelp(["shoal top", "shoal top -o json"]))
    .action(async (_options: unknown, called: Command) => {
      const { top } = await import("./top/top.ts");
      const specs = {
        list: specOf("browsers.list"),
        stats: specOf("browsers.stats"),
        end: specOf("browsers.delete"),
      };
      await top(specs, called.optsWithGlobals<TopFlags>(), run);
    });
}
