import { Argument, type Command } from "commander";
import { examplesHelp, outputOption, queryOption } from "./command-line.ts";
import type { GlobalFlags } from "./connect.ts";
import type { OutputFormat } from "./output.ts";
import type { Adding } from "./program.ts";

type Flags = GlobalFlags & {
  readonly output: OutputFormat;
  readonly query?: string;
  readonly data?: string;
  readonly header?: readonly string[];
  readonly include?: boolean;
  readonly print?: boolean;
};

/** Commands for whatever else one does at a terminal: raw calls, a session's live view, completions. */
export function addToolCommands({ groupFor, run, specOf, likeOperation }: Adding): void {
  const root = groupFor([]);
  const flagsOf = (command: Command) => command.optsWithGlobals<Flags>();

  root
    .command("api")
    .addArgument(new Argument("<method>", "GET, POST, PUT, PATCH or DELETE."))
    .argument("<path>", "Path of the operation, with its query: /profiles?limit=5.")
    .option("-d, --data <json>", "The body: JSON, @ and the name of a file, or - for stdin.")
    .option("-H, --header <name:value>", "A header. May be given several times.", (value: string, previous: string[] | undefined) => [
      ...(previous ?? []),
      value,
    ])
    .option("-i, --include", "Print status and headers on stderr.")
    .addOption(outputOption())
    .addOption(queryOption())
    .summary("Call any path of the service.")
    .description(
      "Calls any path of the service, with the key and the project that commands use, and prints the answer: JSON as JSON, everything else as it is. An error's body is printed too.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal api GET /profiles",
        `shoal api POST /browsers -d '{"name":"research"}' --query session_id`,
        "shoal api GET '/browsers?status=all' -i",
      ]),
    )
    .action(async (method: string, path: string, _options: unknown, command: Command) => {
      const { callPath } = await import("./api.ts");
      await callPath(method, path, flagsOf(command), run);
    });

  const open = root
    .command("open")
    .argument("<id-or-name>", "The session's id or name.")
    .option("--print", "Print the address instead.")
    .option("--read-only", "Only watch: take no input.")
    .summary("Open a session's live view in your browser.")
    .description("Opens a session's live view in your browser. Where there is none to open, its address is printed.")
    .addHelpText("after", examplesHelp(["shoal open research", "shoal open research --print"]))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { openBrowser } = await import("./view.ts");
      await openBrowser(specOf("browsers.get"), id, flagsOf(command), run);
    });
  likeOperation.set(open, "browsers.get");

  root
    .command("completion")
    .addArgument(new Argument("<shell>", "Your shell.").choices(["bash", "zsh", "fish", "powershell"]))
    .summary("Print a script that completes commands.")
    .description("Prints a script that completes commands, flags, values and the names of what the service has, for your shell to read.")
    .addHelpText(
      "after",
      examplesHelp([
        "source <(shoal completion bash)                      # in ~/.bashrc",
        "source <(shoal completion zsh)                       # in ~/.zshrc, behind compinit",
        "shoal completion fish > ~/.config/fish/completions/shoal.fish",
        "shoal completion powershell | Out-String | Invoke-Expression   # in $PROFILE",
      ]),
    )
    .action(async (shell: string) => {
      const { completionScript } = await import("./completion-scripts.ts");
      run.terminal.stdout.write(completionScript(shell));
    });
}
