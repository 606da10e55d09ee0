import type { Command } from "commander";
import type { Adding, GlobalFlags, OutputFormat } from "../../core/types.ts";
import { markNotYet, notYetExplained } from "../../table/not-yet.ts";
import { collect, examplesHelp, outputOption, queryOption } from "../command-line.ts";
import { showsDryRun } from "../dry-run.ts";

type Flags = GlobalFlags & { readonly output: OutputFormat; readonly follow: boolean };
interface RepositoryFlags {
  readonly url: string;
  readonly ref: string;
  readonly entrypoint: string;
}

/** The version of a checkout before the first release. */
const unreleased = "0.0.0";

export function addAppCommands(adding: Adding): void {
  addInit(adding);
  addDeploy(adding);
  addDev(adding);
  addInvoke(adding);
  addLogs(adding);
}

function explain(command: Command, isMissing: boolean, summary: string, about: string): Command {
  return command
    .summary(isMissing ? markNotYet(summary) : summary)
    .description([summary, about, ...(isMissing ? [notYetExplained] : [])].join("\n\n"));
}

function addInit({ groupFor, run, version }: Adding): void {
  showsDryRun(groupFor([]).command("init"))
    .argument("[folder]", "Folder of the new app")
    .option("--template <name>", "typescript, javascript or python")
    .option("--name <name>", "Name of the app (default: the name of the folder)")
    .summary("Create an app from a template")
    .description(
      "Create an app from a template\n\nExisting files are never overwritten. In a terminal, prompts for missing values.",
    )
    .addHelpText("after", examplesHelp(["shoal init shop", "shoal init shop --template python"]))
    .action(async (folder: string | undefined, _options: unknown, command: Command) => {
      const { init } = await import("./init.ts");
      await init(folder, { ...command.optsWithGlobals<GlobalFlags>(), isReleased: version !== unreleased }, run);
    });
}

function addDeploy({ groupFor, isNotYet, run, specOf }: Adding): void {
  const command = showsDryRun(groupFor([]).command("deploy"));
  explain(
    command,
    isNotYet("deployments.create"),
    "Deploy an app",
    "Uploads the folder of the entrypoint without the files that .gitignore excludes, and follows the deployment until it runs. -o jsonl prints its events.",
  )
    .argument("<entrypoint>", "File to start; its folder is uploaded")
    .option("--version <label>", "Version label (default: latest)")
    .option("--force", "Replace existing versions with the same label")
    .option("--region <text>", "Region to run in")
    .option("-e, --env <KEY=value>", "Environment variable of the app (repeatable)", collect)
    .option("--env-file <file>", "File of environment variables; --env takes precedence (repeatable)", collect)
    .option("--no-follow", "Return after the upload")
    .addOption(outputOption())
    .addHelpText(
      "after",
      examplesHelp(["shoal deploy index.ts", "shoal deploy src/index.ts --version v2 --env-file .env --env MODE=fast"]),
    )
    .action(async (entrypoint: string, _options: unknown, command: Command) => {
      const { deploy } = await import("./deploy.ts");
      await deploy(entrypoint, specOf, command.optsWithGlobals<Flags>(), run);
    });
  command.usage(
    "[options] <entrypoint>\n       shoal deploy github [options]\n       shoal deploy rollback [options] [deployment]",
  );
  addDeployGithub(command, { isNotYet, run, specOf });
  addDeployRollback(command, { isNotYet, run, specOf });
}

function addDeployRollback(
  deploy: Command,
  { isNotYet, run, specOf }: Pick<Adding, "isNotYet" | "run" | "specOf">,
): void {
  const command = showsDryRun(deploy.command("rollback"));
  explain(
    command,
    isNotYet("deployments.rollback"),
    "Return to an earlier deployment",
    "Runs its stored build again, without a new build. With --app, returns to the deployment before the running one. --version applies to --app.",
  )
    .argument("[deployment]", "ID of the deployment to run again")
    .option("--app <name>", "App whose previous deployment runs again")
    .addHelpText(
      "after",
      examplesHelp(["shoal deploy rollback --app shop", "shoal deploy rollback DEPLOYMENT", "shoal apps history shop"]),
    )
    .action(async (deployment: string | undefined, _options: unknown, command: Command) => {
      const { rollback } = await import("./rollback.ts");
      await rollback(deployment, specOf, command.optsWithGlobals<Flags>(), run);
    });
}

/** Commander reads the flags of `deploy` after `github` as well. */
function addDeployGithub(
  deploy: Command,
  { isNotYet, run, specOf }: Pick<Adding, "isNotYet" | "run" | "specOf">,
): void {
  const command = showsDryRun(deploy.command("github"));
  explain(
    command,
    isNotYet("deployments.create"),
    "Deploy an app from a GitHub repository",
    "The service fetches the sources. The flags of shoal deploy apply. The token is used once and not stored.",
  )
    .requiredOption("--url <url>", "Address of the repository (required)")
    .requiredOption("--ref <text>", "Branch, tag or commit (required)")
    .requiredOption("--entrypoint <file>", "File to start, relative to --path (required)")
    .option("--path <directory>", "Directory of the repository that contains the app")
    .option("--github-token <token>", "Token for a private repository (- reads stdin, @FILE a file)")
    .addHelpText(
      "after",
      examplesHelp([
        "shoal deploy github --url https://github.com/me/shop --ref main --entrypoint index.ts",
        "shoal deploy github --url https://github.com/me/apps --ref v2 --path shop --entrypoint index.ts --github-token @token",
      ]),
    )
    .action(async (_options: unknown, command: Command) => {
      const { deployRepository } = await import("./deploy.ts");
      await deployRepository(specOf, command.optsWithGlobals<Flags & RepositoryFlags>(), run);
    });
}

function addDev({ groupFor, run, specOf }: Adding): void {
  groupFor([])
    .command("dev")
    .argument("<entrypoint>", "File to start")
    .option("--invoke <action>", "Invoke one action (ACTION or APP/ACTION), print its result and exit")
    .option("-p, --payload <json>", "Input of the action, with --invoke")
    .option("--payload-file <file>", "File with the input of the action, or - for stdin")
    .option("-e, --env <KEY=value>", "Environment variable of the app (repeatable)", collect)
    .option("--env-file <file>", "File of environment variables; --env takes precedence (repeatable)", collect)
    .addOption(outputOption())
    .summary("Run an app on this machine")
    .description(
      [
        "Run an app on this machine, with the browsers of the service",
        "Bundles the file as a deployment does, without installing dependencies, and again after each change. The prompt takes ACTION [JSON]; .help lists more. Ctrl-C cancels the running action; a second Ctrl-C leaves.",
        "The app gets the variables of your shell, and your key in SHOAL_API_KEY and KERNEL_API_KEY. Browsers created with the ID of the invocation end when the action fails or is cancelled, and when the command exits. The service does not list these invocations.",
      ].join("\n\n"),
    )
    .addHelpText(
      "after",
      examplesHelp(["shoal dev index.ts", `shoal dev index.ts --invoke greet -p '{"name":"Ada"}' -o json`]),
    )
    .action(async (entrypoint: string, _options: unknown, command: Command) => {
      const { dev } = await import("./dev/dev.ts");
      await dev(entrypoint, specOf, command.optsWithGlobals<Flags>(), run);
    });
}

function addInvoke({ groupFor, isNotYet, run, specOf }: Adding): void {
  const command = showsDryRun(groupFor([]).command("invoke"));
  explain(
    command,
    isNotYet("invocations.create"),
    "Invoke an action of an app",
    "Prints the log while the action runs, and then its result. Ctrl-C offers to cancel the invocation and end its browsers; a second Ctrl-C leaves it running. Without a terminal, Ctrl-C cancels at once. -o jsonl prints its events.",
  )
    .argument("<app-name>", "Name of the app")
    .argument("<action-name>", "Name of the action")
    .option("--version <label>", "Version of the app (default: latest)")
    .option("-p, --payload <json>", "Input of the action")
    .option("--payload-file <file>", "File with the input of the action, or - for stdin")
    .option("-s, --sync", "Wait for the response instead of following the events")
    .option("--async-timeout <seconds>", "Timeout of the action in seconds")
    .option("--since <moment>", "Print events from this time on: 5m, or a time")
    .addOption(outputOption())
    .addHelpText(
      "after",
      examplesHelp([
        `shoal invoke shop buy -p '{"item": 1}'`,
        "shoal invoke shop report --payload-file report.json --sync",
      ]),
    )
    .action(async (app: string, action: string, _options: unknown, command: Command) => {
      const { invoke } = await import("./apps.ts");
      await invoke({ app, action }, specOf, command.optsWithGlobals<Flags>(), run);
    });
}

function addLogs({ groupFor, isNotYet, run, specOf }: Adding): void {
  const command = groupFor([]).command("logs").alias("log");
  explain(
    command,
    isNotYet("deployments.follow"),
    "Print the log of an app",
    "Prints the log of the app's deployment or of one invocation. Without --follow, exits after 3 seconds without a new line.",
  )
    .argument("<app-name>", "Name of the app")
    .option("--version <label>", "Version of the app (default: the newest)")
    .option("-f, --follow", "Continue until Ctrl-C")
    .option("--since <moment>", "Start time, or how long ago: 1h (default: 5m, with --follow 5s)")
    .option("-i, --invocation <id>", "Print the log of this invocation")
    .addOption(outputOption())
    .addHelpText(
      "after",
      examplesHelp([
        "shoal logs shop",
        "shoal logs shop --follow",
        "shoal logs shop --since 1h --invocation INVOCATION",
      ]),
    )
    .action(async (app: string, _options: unknown, command: Command) => {
      const { logs } = await import("./apps.ts");
      await logs(app, specOf, command.optsWithGlobals<Flags>(), run);
    });
}

const historyId = "deployments.list";

export function addAppsCommands({ groupFor, likeOperation, names, run, specOf }: Adding): void {
  const history = showsDryRun(groupFor(["apps"]).command("history"))
    .argument("<app-name>", "Name of the app")
    .option("--version <label>", "Only deployments of this version")
    .option("--limit <number>", "Maximum number of items (default: 20)")
    .option("--offset <number>", "Number of items to skip")
    .option("--all", "Fetch all pages")
    .addOption(outputOption())
    .addOption(queryOption())
    .summary("List the deployments of an app")
    .description("List the deployments of an app\n\nNewest first.")
    .addHelpText("after", examplesHelp(["shoal apps history shop", "shoal apps history shop --version v2 -o json"]))
    .action(async (app: string) => {
      const { runOperation } = await import("../../operations/run-operation.ts");
      const flags = {
        app_name: { key: "app", name: "<app-name>" },
        app_version: { key: "version", name: "--version" },
        limit: { key: "limit", name: "--limit" },
        offset: { key: "offset", name: "--offset" },
      };
      await runOperation(
        specOf(historyId),
        { args: [], options: { ...history.opts(), app }, globals: history.optsWithGlobals(), flags },
        run,
      );
    });
  names.set(history, { app_name: "<app-name>", app_version: "--version", limit: "--limit", offset: "--offset" });
  likeOperation.set(history, historyId);

  showsDryRun(groupFor(["apps"]).command("delete"))
    .argument("<app-name>", "Name of the app")
    .option("--version <label>", "Delete only the deployments of this version")
    .option("-y, --yes", "Do not ask for confirmation")
    .summary("Delete an app")
    .description(
      "Delete an app\n\nStops and deletes its deployments. Other apps of the same deployments are deleted with them.",
    )
    .addHelpText("after", examplesHelp(["shoal apps delete shop", "shoal apps delete shop --version v1 --yes"]))
    .action(async (app: string, _options: unknown, command: Command) => {
      const { deleteApp } = await import("./delete-app.ts");
      await deleteApp(app, specOf, command.optsWithGlobals<GlobalFlags>(), run);
    });
}
