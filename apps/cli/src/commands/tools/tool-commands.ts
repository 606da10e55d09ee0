import { Argument, type Command } from "commander";
import type { Adding, GlobalFlags, OutputFormat } from "../../core/types.ts";
import { collect, examplesHelp, outputOption, queryOption } from "../command-line.ts";
import { showsDryRun } from "../dry-run.ts";
import { addSessionArguments, sessionArguments } from "../session-argument.ts";

type Flags = GlobalFlags & {
  readonly output: OutputFormat;
  readonly query?: string;
  readonly data?: string;
  readonly header?: readonly string[];
  readonly include?: boolean;
  readonly print?: boolean;
};

export function addToolCommands(adding: Adding): void {
  addApi(adding);
  addOpen(adding);
  addCompletion(adding);
}

function addApi({ groupFor, run }: Adding): void {
  showsDryRun(groupFor([]).command("api"))
    .addArgument(new Argument("<method>", "GET, POST, PUT, PATCH or DELETE"))
    .argument("<path>", "Path with query: /profiles?limit=5")
    .option("-d, --data <json>", "Request body (JSON, @FILE, or - for stdin)")
    .option("-H, --header <name:value>", "Request header (repeatable)", collect)
    .option("-i, --include", "Print status and headers on stderr")
    .addOption(outputOption())
    .addOption(queryOption())
    .summary("Call any path of the service")
    .description(
      "Call any path of the service with the current key and project\n\nPrints JSON responses as JSON and other responses unchanged, including the bodies of errors.",
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
      await callPath(method, path, command.optsWithGlobals<Flags>(), run);
    });
}

function addOpen({ groupFor, likeOperation, run, specOf }: Adding): void {
  const open = addSessionArguments(groupFor([]).command("view"))
    .option("--print", "Print the URL instead of opening it")
    .option("--read-only", "Open a view without input")
    .summary("Open a session's live view in your browser")
    .description("Open a session's live view in your browser\n\nPrints the URL if no browser can be opened.")
    .addHelpText("after", examplesHelp(["shoal view research", "shoal view research --print"]))
    .action(async (_id: unknown, _options: unknown, command: Command) => {
      const [id = ""] = sessionArguments(command, run);
      const { openBrowser } = await import("../browsers/view.ts");
      await openBrowser(specOf("browsers.get"), id, command.optsWithGlobals<Flags>(), run);
    });
  likeOperation.set(open, "browsers.get");
}

function addCompletion({ groupFor, run }: Adding): void {
  groupFor([])
    .command("completion")
    .addArgument(new Argument("<shell>", "Your shell").choices(["bash", "zsh", "fish", "powershell"]))
    .summary("Print a shell completion script")
    .description(
      "Print a completion script for your shell\n\nIt completes commands, flags, values, and names of resources.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "source <(shoal completion bash)                      # in ~/.bashrc",
        "source <(shoal completion zsh)                       # in ~/.zshrc, after compinit",
        "shoal completion fish > ~/.config/fish/completions/shoal.fish",
        "shoal completion powershell | Out-String | Invoke-Expression   # in $PROFILE",
      ]),
    )
    .action(async (shell: string) => {
      const { completionScript } = await import("./completion-scripts.ts");
      run.terminal.stdout.write(completionScript(shell));
    });
}
