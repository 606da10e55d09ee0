import type { CommandEntry } from "../../core/types.ts";

const search = { query: "--search" } as const;
const exampleId = "m3x1p0v2k7c9q5w8z6t4r2yh";
const created = ["CREATED", "created_at"] as const;
const id = ["ID", "id"] as const;
const everyChange = { field: "status", until: [] } as const;

export const appEntries: Readonly<Record<string, CommandEntry>> = {
  "apps.list": {
    summary: "List deployed apps",
    about: "One line for each version, newest first.",
    help: { app_name: "Filter by name", version: "Filter by version label" },
    columns: [
      ["APP", "app_name"],
      ["VERSION", "version"],
      ["ACTIONS", "actions"],
      ["DEPLOYMENT", "deployment"],
    ],
    flags: { ...search, app_name: "--name" },
    empty: "No apps. Deploy one: shoal deploy index.ts",
    examples: ["shoal apps list", "shoal apps list --name shop"],
  },
  "deployments.create": {
    summary: "Create a deployment",
    about: "Takes an archive or a repository. Returns at once; follow it with shoal deployments follow.",
    help: {
      version: "Label for the app versions of this deployment",
      file: "ZIP archive or folder with package.json or pyproject.toml; needs --entrypoint-rel-path",
      source: "Repository to fetch the sources from",
      region: "Region to run in",
      "source.entrypoint": "File to start, relative to --source-path",
    },
    flags: { env_vars: "--env" },
    first: ["id", "status"],
    next: ["", "Follow it with: shoal deployments follow {id}"],
    examples: [
      "shoal deployments create --file app.zip --entrypoint-rel-path index.ts",
      "shoal deployments create --source-type github --source-url https://github.com/me/app --source-ref main --source-entrypoint index.ts",
    ],
  },
  "deployments.list": {
    summary: "List deployments",
    about: "Newest first.",
    help: { query: "Part of an app name, or a whole ID" },
    columns: [id, ["STATUS", "status"], ["ENTRYPOINT", "entrypoint_rel_path"], created],
    flags: search,
    empty: "No deployments. Deploy an app: shoal deploy index.ts",
    watch: everyChange,
    examples: ["shoal deployments list --app-name shop", "shoal deployments list --app-name shop --watch"],
  },
  "deployments.get": {
    summary: "Show a deployment",
    first: ["id", "status"],
    watch: { field: "status", until: ["running", "failed", "stopped"] },
    examples: [`shoal deployments get ${exampleId}`, `shoal deployments get ${exampleId} --watch`],
  },
  "deployments.delete": {
    summary: "Delete a deployment",
    about: "Stops the deployment first. Its app versions can no longer be invoked.",
    confirm: "Delete deployment {0}?",
    done: "Deleted deployment {0}.",
    examples: [`shoal deployments delete ${exampleId} --yes`],
  },
  "deployments.rollback": {
    summary: "Return to an earlier deployment",
    about:
      "Runs its stored build again, without a new build. shoal deploy rollback --app finds the previous deployment.",
    first: ["id", "status"],
    examples: [`shoal deployments rollback ${exampleId}`],
  },
  "deployments.follow": {
    summary: "Follow a deployment",
    about: "Prints states and log lines. Ends when the deployment fails or is stopped.",
    alias: ["logs"],
    examples: [`shoal deployments follow ${exampleId}`, `shoal deployments follow ${exampleId} --since 1h`],
  },
  "schedules.create": {
    summary: "Invoke an action of an app, or run a flow, regularly",
    about: "Deployments that take over the version keep the schedule.",
    help: {
      app_name: "App to invoke",
      action_name: "Action of the app",
      flow: "ID of a flow to run, instead of an app",
      flow_run: "Settings of the runs of the flow as JSON: see shoal flows run --help",
      cron: "Minute, hour, day, month and day of the week, optionally after seconds: 0 9 * * 1-5",
      time_zone: "Time zone of --cron: Europe/Berlin; default: UTC",
    },
    first: ["id", "next_run_at"],
    examples: [
      `shoal schedules create --app-name shop --action-name report --cron "0 9 * * 1-5" --time-zone Europe/Berlin`,
      `shoal schedules create --flow m3x1p0v2k7c9q5w8z6t4r2yh --flow-run '{"parameters":{"product":"tea"}}' --cron "0 9 * * 1-5"`,
    ],
  },
  "schedules.list": {
    summary: "List schedules",
    about: "Newest first. The origin code means that an action of the app declares the schedule.",
    columns: [
      id,
      ["APP", "app_name"],
      ["VERSION", "version"],
      ["ACTION", "action_name"],
      ["FLOW", "flow_id"],
      ["CRON", "cron"],
      ["ORIGIN", "origin"],
      ["STATUS", "status"],
      ["NEXT", "next_run_at"],
      ["PROBLEM", "last_problem"],
    ],
    empty: "No schedules. Create one: shoal schedules create --help",
    examples: ["shoal schedules list --app-name shop"],
  },
  "schedules.pause": {
    summary: "Pause a schedule",
    first: ["id", "status"],
    examples: [`shoal schedules pause ${exampleId}`],
  },
  "schedules.resume": {
    summary: "Resume a schedule",
    first: ["id", "status", "next_run_at"],
    examples: [`shoal schedules resume ${exampleId}`],
  },
  "schedules.delete": {
    summary: "Delete a schedule",
    confirm: "Delete schedule {0}?",
    done: "Deleted schedule {0}.",
    examples: [`shoal schedules delete ${exampleId} --yes`],
  },
  "invocations.create": {
    summary: "Invoke an action of an app",
    about: "Waits for the result; with --async it returns at once.",
    help: { app_name: "App to invoke" },
    first: ["id", "status"],
    next: ["", "Follow it with: shoal invocations follow {id}"],
    examples: [
      `shoal invocations create --app-name shop --action-name buy --version latest --payload '{"item":1}' --async`,
    ],
  },
  "invocations.list": {
    summary: "List invocations",
    about: "Newest first.",
    help: {
      version: "Filter by version label",
      since: "Only invocations that started after this time, or no longer ago than: 5m, 1h30m",
      action_name: "Filter by action",
      status: "Filter by status",
      query: "Part of an app or action name, or a whole ID",
    },
    columns: [
      id,
      ["APP", "app_name"],
      ["ACTION", "action_name"],
      ["STATUS", "status"],
      ["STARTED", "started_at"],
      ["FINISHED", "finished_at"],
    ],
    flags: search,
    empty: "No invocations. Start one: shoal invoke APP ACTION",
    watch: everyChange,
    examples: [
      "shoal invocations list --app-name shop --status failed",
      "shoal invocations list --app-name shop --watch",
    ],
  },
  "invocations.get": {
    summary: "Show an invocation",
    first: ["id", "status"],
    watch: { field: "status", until: ["succeeded", "failed"] },
    examples: [`shoal invocations get ${exampleId}`, `shoal invocations get ${exampleId} --watch`],
  },
  "invocations.update": {
    summary: "End an invocation",
    about: "The status failed cancels a running invocation.",
    help: { status: "Final status; failed cancels a running invocation" },
    examples: [`shoal invocations update ${exampleId} --status failed`],
  },
  "invocations.follow": {
    summary: "Follow an invocation",
    about: "Prints states and log lines. Ends with the invocation.",
    examples: [`shoal invocations follow ${exampleId}`],
  },
  "invocations.listBrowsers": {
    summary: "List the running browser sessions of an invocation",
    examples: [`shoal invocations list-browsers ${exampleId}`],
  },
  "invocations.deleteBrowsers": {
    summary: "End the browser sessions of an invocation",
    confirm: "End all browsers of invocation {0}?",
    done: "Ended the browsers of invocation {0}.",
    examples: [`shoal invocations delete-browsers ${exampleId} --yes`],
  },
};
