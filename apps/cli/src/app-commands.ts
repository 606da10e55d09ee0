import type { Command } from "commander";
import { examplesHelp, outputOption } from "./command-line.ts";
import type { GlobalFlags } from "./connect.ts";
import { markNotYet, notYetExplained } from "./not-yet.ts";
import type { OutputFormat } from "./output.ts";
import type { Adding } from "./program.ts";

type Flags = GlobalFlags & { readonly output: OutputFormat; readonly follow: boolean };

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Commands that put apps on the service and run them. */
export function addAppCommands({ groupFor, isNotYet, run, specOf }: Adding): void {
  const summaryOf = (operationId: string, summary: string) => (isNotYet(operationId) ? markNotYet(summary) : summary);
  const descriptionOf = (operationId: string, description: string) => (isNotYet(operationId) ? `${description}\n${notYetExplained}` : description);
  const root = groupFor([]);
  const flagsOf = (command: Command) => command.optsWithGlobals<Flags>();
  const operations = { of: specOf };

  root
    .command("deploy")
    .argument("<entrypoint>", "The file to start; its folder is what is sent.")
    .option("--version <label>", "Label of the app's versions; latest when absent.")
    .option("--force", "Replace versions of the same label.")
    .option("--region <text>", "Where to run it.")
    .option("-e, --env <KEY=value>", "An environment variable of the app. May be given several times.", collect)
    .option("--env-file <file>", "A file of environment variables; --env comes before it. May be given several times.", collect)
    .option("--no-follow", "Do not wait until it runs.")
    .addOption(outputOption())
    .summary(summaryOf("deployments.create", "Put an app on the service."))
    .description(
      descriptionOf(
        "deployments.create",
        "Packs the folder of the entrypoint (hidden files too, but nothing that .gitignore leaves out), sends it, and tells what becomes of it until it runs. -o jsonl prints its events.",
      ),
    )
    .addHelpText("after", examplesHelp(["shoal deploy index.ts", "shoal deploy src/index.ts --version v2 --env-file .env --env MODE=fast"]))
    .action(async (entrypoint: string, _options: unknown, command: Command) => {
      const { deploy } = await import("./apps.ts");
      await deploy(entrypoint, operations, flagsOf(command), run);
    });

  root
    .command("invoke")
    .argument("<app-name>", "An app.")
    .argument("<action-name>", "One of its actions.")
    .option("--version <label>", "Version of the app; latest when absent.")
    .option("-p, --payload <json>", "What the action is given.")
    .option("--payload-file <file>", "A file with what the action is given, or - for stdin.")
    .option("-s, --sync", "Wait in the request instead of following the action's events.")
    .option("--async-timeout <seconds>", "How long the action may take.")
    .option("--since <moment>", "Events from here on: 5m, or a moment.")
    .addOption(outputOption())
    .summary(summaryOf("invocations.create", "Run an action of an app."))
    .description(
      descriptionOf(
        "invocations.create",
        "Runs an action of an app, prints its log as it comes and at last what it returned. Ctrl-C ends it on the service too, with its browsers. -o jsonl prints its events.",
      ),
    )
    .addHelpText("after", examplesHelp([`shoal invoke shop buy -p '{"item": 1}'`, "shoal invoke shop report --payload-file report.json --sync"]))
    .action(async (app: string, action: string, _options: unknown, command: Command) => {
      const { invoke } = await import("./apps.ts");
      await invoke({ app, action }, operations, flagsOf(command), run);
    });

  root
    .command("logs")
    .alias("log")
    .argument("<app-name>", "An app.")
    .option("--version <label>", "Version of the app; the newest when absent.")
    .option("-f, --follow", "Go on until Ctrl-C.")
    .option("--since <moment>", "From here on: 5m, 1h, or a moment; 5m when absent, 5s with --follow.")
    .option("-i, --invocation <id>", "Of one invocation.")
    .addOption(outputOption())
    .summary(summaryOf("deployments.follow", "Print the log of an app."))
    .description(
      descriptionOf(
        "deployments.follow",
        "Prints the log of an app's deployment, or of one invocation. Without --follow it ends when nothing has come for 3 seconds.",
      ),
    )
    .addHelpText("after", examplesHelp(["shoal logs shop", "shoal logs shop --follow", "shoal logs shop --since 1h --invocation INVOCATION"]))
    .action(async (app: string, _options: unknown, command: Command) => {
      const { logs } = await import("./apps.ts");
      await logs(app, operations, flagsOf(command), run);
    });
}
