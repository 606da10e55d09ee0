import type { Command, Option } from "commander";
import type { CommandRequest, CommandSpec, GlobalFlags, Program, Run } from "../core/types.ts";
import { reach } from "../connection/reach.ts";
import { plainRequest } from "../connection/call.ts";
import { readValidConfig } from "../connection/contexts.ts";
import { printable } from "../output/format.ts";
import { sendPlain } from "../connection/send.ts";
import { kebab } from "../table/words.ts";

/** Milliseconds that completion waits for the service by default, because the shell waits for it. */
const askTimeoutMs = 1500;
/** Tells the shell to complete file names. */
const files = ":files";

type Candidate = readonly [text: string, description?: string];

/** The list that completes a flag, by its first word: `--profile-name` completes from `profiles list`. */
const resourceFlags: Readonly<Record<string, string>> = {
  "--profile-id": "profiles",
  "--profile-name": "profiles",
  "--proxy-id": "proxies",
  "--proxy-name": "proxies",
  "--project": "projects",
  "--credential-name": "credentials",
  "--session-id": "browsers",
};

/**
 * @param words - after `shoal`; the last one is incomplete and may be empty.
 * @returns lines of a candidate, a tab and its description; `:files` for file names.
 */
export async function complete(words: readonly string[], program: Program, run: Run): Promise<string[]> {
  const current = words.at(-1) === ":empty" ? "" : (words.at(-1) ?? "");
  const { command, positionals, flags, pending } = follow(words.slice(0, -1), program);
  const candidates = await candidatesFor({ command, positionals, flags, pending, current }, program, run);
  return candidates
    .filter(([text]) => text === files || text.startsWith(current))
    .map(([text, description]) =>
      description === undefined || description === "" ? text : `${printable(text)}\t${printable(description)}`,
    );
}

interface Position {
  readonly command: Command;
  readonly positionals: readonly string[];
  readonly flags: GlobalFlags;
  /** The flag before the cursor, if it needs a value. */
  readonly pending: Option | undefined;
}

function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...(command.parent ? optionsOf(command.parent) : [])];
}

function follow(words: readonly string[], program: Program): Position {
  let command = program.root;
  const positionals: string[] = [];
  const flags: Record<string, string> = {};
  let pending: Option | undefined;
  for (const word of words) {
    if (pending) {
      flags[pending.attributeName()] = word;
      pending = undefined;
    } else if (word.startsWith("-")) {
      const [name = "", value] = word.split("=", 2);
      const option = optionsOf(command).find(({ long, short }) => long === name || short === name);
      if (option && value !== undefined) flags[option.attributeName()] = value;
      else if (option?.required === true) pending = option;
    } else {
      const child =
        positionals.length === 0
          ? command.commands.find((each) => each.name() === word || each.aliases().includes(word))
          : undefined;
      if (child === undefined) positionals.push(word);
      else {
        command = child;
        if (child.parent === program.root) program.fill(child.name());
      }
    }
  }
  return { command, positionals, flags, pending };
}

async function candidatesFor(
  { command, positionals, flags, pending, current }: Position & { readonly current: string },
  program: Program,
  run: Run,
): Promise<Candidate[]> {
  if (pending) return valuesOf(pending, { flags, current }, program, run);
  if (current.startsWith("-"))
    return optionsOf(command)
      .filter(({ hidden }) => !hidden)
      .flatMap((option) => [[option.long ?? option.flags, option.description.split(/\. |\n/)[0] ?? ""] as const]);
  // `browsers fs watch` is both a group and a command.
  const below: Candidate[] =
    positionals.length === 0
      ? command.commands
          .filter((child) => !child.name().startsWith("__") && child.name() !== "help")
          .map((child) => [child.name(), child.summary() || (child.description().split("\n")[0] ?? "")])
      : [];
  const target = command.commands.find((child) => child.name() === "follow") ?? command;
  const argument = target.registeredArguments[Math.min(positionals.length, target.registeredArguments.length - 1)];
  if (argument === undefined || (positionals.length >= target.registeredArguments.length && !argument.variadic))
    return below;
  if (argument.argChoices) return argument.argChoices.map((choice) => [choice]);
  const spec = program.specFor(target);
  if (target.name() === "cp" && target.parent === program.root) return copyPlaces({ current, flags }, program, run);
  if (/^(?:src-|dest-)?path$/.test(argument.name()) && positionals[0] !== undefined)
    return remotePaths({ session: positionals[0], current, flags }, program, run);
  const param = spec?.params[argument.variadic ? target.registeredArguments.indexOf(argument) : positionals.length];
  if (spec && param)
    return [
      ...below,
      ...(await namesOf(resourceBehind(spec, param.name, { args: positionals, current }, program), flags, run)),
    ];
  return /file|archive|entrypoint|directory/.test(argument.name()) ? [[files]] : below;
}

async function valuesOf(
  option: Option,
  { flags, current }: { readonly flags: GlobalFlags; readonly current: string },
  program: Program,
  run: Run,
): Promise<Candidate[]> {
  if (option.argChoices) return option.argChoices.map((choice) => [choice]);
  if (option.long === "--context")
    return Object.entries(readValidConfig(run.env).contexts ?? {}).map(([name, { base_url }]) => [name, base_url]);
  const resource = resourceFlags[option.long ?? ""];
  const list =
    resource === undefined
      ? undefined
      : program.operations(resource).find(({ operationId }) => operationId.endsWith(".list"));
  if (list) return namesOf(listing(list, [], current), flags, run);
  const choices = /<([\w-]+(?:\|[\w-]+)+)>/.exec(option.flags)?.[1];
  if (choices !== undefined) return choices.split("|").map((choice) => [choice]);
  return /<(file|path)>/.test(option.flags) ? [[files]] : [];
}

interface Listing {
  readonly spec: CommandSpec;
  readonly request: CommandRequest;
}

/** Searches if the list supports it: candidates may be on later pages. */
function listing(spec: CommandSpec, args: readonly string[], current: string): Listing {
  const takes = (name: string) => spec.flags.some(({ field }) => field === name);
  return {
    spec,
    request: {
      params: Object.fromEntries(spec.params.map(({ name }, index) => [name, args[index] ?? ""])),
      query: { ...(takes("limit") && { limit: 100 }), ...(takes("query") && current !== "" && { query: current }) },
      body: undefined,
    },
  };
}

/** Returns the list at the path before the parameter: `/browsers` for `/browsers/{id}/fs/move`. */
function resourceBehind(
  spec: CommandSpec,
  param: string,
  typed: { readonly args: readonly string[]; readonly current: string },
  program: Program,
): Listing | undefined {
  const before = spec.path.slice(0, spec.path.indexOf(`/{${param}}`));
  const shape = (path: string) => path.replace(/\{\w+\}/g, "{}");
  const first = kebab(spec.words[0] ?? "");
  // The list of projects is at `/org/projects`, below another first word.
  const list = [first, "browsers", "projects"]
    .flatMap((word) => program.operations(word))
    .find(
      ({ method, path, entry }) => method === "GET" && entry.columns !== undefined && shape(path) === shape(before),
    );
  return list && listing(list, typed.args, typed.current);
}

/** Returns nothing if the service does not answer: completion never fails. */
async function namesOf(listing: Listing | undefined, flags: GlobalFlags, run: Run): Promise<Candidate[]> {
  return listing ? (await itemsOf(listing, flags, run)).flatMap(candidateOf) : [];
}

async function itemsOf(
  listing: Listing,
  flags: GlobalFlags,
  run: Run,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const seconds = Number(run.env.SHOAL_COMPLETION_TIMEOUT);
  try {
    const answer = await sendPlain(plainRequest(listing.spec, listing.request, reach(flags, run)), {
      signal: run.signal,
      timeoutMs: seconds > 0 ? seconds * 1000 : askTimeoutMs,
    });
    const items: unknown = JSON.parse(answer.text);
    return answer.status === 200 && Array.isArray(items) ? (items as Readonly<Record<string, unknown>>[]) : [];
  } catch {
    return [];
  }
}

async function remotePaths(
  { session, current, flags }: { readonly session: string; readonly current: string; readonly flags: GlobalFlags },
  program: Program,
  run: Run,
): Promise<Candidate[]> {
  const list = program.operations("browsers").find(({ operationId }) => operationId === "browsers.fs.listFiles");
  if (list === undefined) return [];
  const folder = current.includes("/") ? current.slice(0, current.lastIndexOf("/") + 1) : "/";
  const request: CommandRequest = { params: { id: session }, query: { path: folder }, body: undefined };
  const entries = await itemsOf({ spec: list, request }, flags, run);
  return entries.flatMap(({ name, is_dir }) =>
    typeof name === "string" ? [[`${folder}${name}${is_dir === true ? "/" : ""}`] as const] : [],
  );
}

/** Local files and sessions; after `SESSION:`, paths of the session. */
async function copyPlaces(
  { current, flags }: { readonly current: string; readonly flags: GlobalFlags },
  program: Program,
  run: Run,
): Promise<Candidate[]> {
  const [, session, path] = /^([^/:]+):(.*)$/s.exec(current) ?? [];
  if (session !== undefined && path !== undefined)
    return (await remotePaths({ session, current: path, flags }, program, run)).map(([text]) => [`${session}:${text}`]);
  const list = program.operations("browsers").find(({ operationId }) => operationId === "browsers.list");
  const sessions = current.includes("/") || !list ? [] : await namesOf(listing(list, [], current), flags, run);
  return [[files], ...sessions.map(([name, description]) => [`${name}:`, description ?? ""] as const)];
}

function candidateOf(item: Readonly<Record<string, unknown>>): Candidate[] {
  const id = item.session_id ?? item.replay_id ?? item.id;
  const name = item.name ?? undefined;
  const told = item.status ?? item.domain ?? item.created_at ?? item.started_at;
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  if (typeof name === "string" && name !== "") return [[name, [text(id), text(told)].filter(Boolean).join(" ")]];
  return typeof id === "string" ? [[id, text(told)]] : [];
}
