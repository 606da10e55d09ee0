import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { messageOf } from "@shoal/primitives";
import type { GlobalFlags, Run } from "../../core/types.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { defaultBaseUrl, findConnection } from "../../connection/settings.ts";
import { printable } from "../../output/format.ts";
import { newApp, type Template, templates } from "./templates.ts";

/** A package name of npm and of Python. */
const namePattern = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
const nameRule = "Use 1 to 64 lower-case letters, digits, dots, dashes and underscores.";

/** Existing files stay. */
export async function init(
  given: string | undefined,
  flags: GlobalFlags & { readonly isReleased: boolean; readonly name?: string; readonly template?: string },
  run: Run,
): Promise<void> {
  const folder = resolve(given ?? (await askFolder(run)));
  const name = flags.name ?? basename(folder);
  if (!namePattern.test(name))
    throw new UsageError(
      `${flags.name === undefined ? `The folder's name "${printable(name)}" is invalid as a name. Pass --name.` : `--name "${printable(name)}" is invalid.`} ${nameRule}`,
    );
  const template = flags.template === undefined ? await askTemplate(run) : known(flags.template);
  const app = newApp(template, name, flags.isReleased ? undefined : registryOfService(flags, run));
  const paths = Object.keys(app.files);
  const existing = paths.filter((path) => existsSync(join(folder, path)));
  if (existing.length > 0)
    throw new ExitError(
      exitCodes.error.status,
      `${printable(folder)} already contains ${new Intl.ListFormat("en").format(existing)}. Nothing was written.`,
      "Choose another folder: shoal init FOLDER",
    );
  if (flags.dryRun !== true) await writeApp(folder, app.files);
  run.terminal.stdout.write(`${paths.map((path) => printable(join(given ?? folder, path))).join("\n")}\n`);
  if (flags.quiet === true) return;
  // Stays in this folder, where the command may be a relative path.
  const here = relative(process.cwd(), folder);
  const steps = [
    here === "" ? app.install : `(cd ${quoted(here)} && ${app.install})`,
    `shoal deploy ${quoted(join(here, app.entry))}`,
    `shoal invoke ${name} greet -p '{"name":"Ada"}'`,
  ];
  run.terminal.stderr.write(
    `${flags.dryRun === true ? "Would create" : "Created"} the app ${name}. Next:\n${steps.map((step) => `  ${step}\n`).join("")}`,
  );
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${printable(path).replaceAll("'", "'\\''")}'`;
}

function registryOfService(flags: GlobalFlags, run: Run): string {
  const { baseUrl } = findConnection(flags, run.env);
  return `${(URL.canParse(baseUrl) ? baseUrl : defaultBaseUrl).replace(/(?<!\/)\/+$/, "")}/npm/`;
}

async function writeApp(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
    // Fails for a file that was created since the check.
    for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text, { flag: "wx" });
  } catch (error) {
    throw new ExitError(exitCodes.error.status, `Cannot write the app: ${messageOf(error)}.`);
  }
}

function known(text: string): Template {
  const template = templates.find((each) => each === text);
  if (template === undefined)
    throw new UsageError(`--template takes one of ${templates.join(", ")}, not "${printable(text)}".`);
  return template;
}

async function askFolder(run: Run): Promise<string> {
  if (!run.terminal.interactive) throw new UsageError("<folder> is missing: the folder of the new app.");
  const { isCancel, text } = await import("@clack/prompts");
  const answer = await text({
    message: "Name of the app",
    placeholder: "my-app",
    output: process.stderr,
    validate: (typed) => (namePattern.test(typed ?? "") ? undefined : nameRule),
  });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was written.");
  return answer;
}

async function askTemplate(run: Run): Promise<Template> {
  if (!run.terminal.interactive) throw new UsageError(`--template is missing: ${templates.join(", ")}.`);
  const { isCancel, select } = await import("@clack/prompts");
  const labels = { typescript: "TypeScript", javascript: "JavaScript", python: "Python" };
  const answer = await select<Template>({
    message: "Template",
    options: templates.map((value) => ({ value, label: labels[value] })),
    output: process.stderr,
  });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was written.");
  return answer;
}
