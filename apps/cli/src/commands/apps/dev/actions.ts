import type { Described } from "@shoal/app-runner";
import { UsageError } from "../../../core/errors.ts";
import { printable } from "../../../output/format.ts";

export interface Action {
  readonly app_name: string;
  readonly action_name: string;
}

/** By the words that select them: `APP/ACTION`, and `ACTION` if only one app has it. */
export function actionsByWord(apps: Described): ReadonlyMap<string, Action> {
  const all = apps.flatMap(({ name, actions }) =>
    actions.map((action): Action => ({ app_name: name, action_name: action.name })),
  );
  const alone = all.filter((one) => all.every((other) => one === other || one.action_name !== other.action_name));
  return new Map([
    ...all.map((action) => [`${action.app_name}/${action.action_name}`, action] as const),
    ...alone.map((action) => [action.action_name, action] as const),
  ]);
}

/** Reads `ACTION [JSON]`. Names may contain spaces. @throws {UsageError} */
export function parseLine(line: string, apps: Described): { readonly action: Action; readonly payload?: string } {
  const words = actionsByWord(apps);
  const [word] = [...words.keys()]
    .filter((each) => line === each || (line.startsWith(each) && /\s/.test(line.charAt(each.length))))
    .sort((a, b) => b.length - a.length);
  const action = word === undefined ? undefined : words.get(word);
  if (word === undefined || action === undefined) throw unknownAction(line.split(/\s/, 1)[0] ?? "", apps);
  const payload = line.slice(word.length).trim();
  if (payload === "") return { action };
  try {
    JSON.parse(payload);
  } catch {
    throw new UsageError(`The payload of ${word} must be JSON, like {"name":"Ada"}.`);
  }
  return { action, payload };
}

/** @throws {UsageError} */
export function actionOf(word: string, apps: Described): Action {
  const action = actionsByWord(apps).get(word);
  if (action === undefined) throw unknownAction(word, apps);
  return action;
}

function unknownAction(word: string, apps: Described): UsageError {
  const short = [...actionsByWord(apps).keys()].filter(
    (each, _index, all) => !each.includes("/") || !all.includes(each.slice(each.indexOf("/") + 1)),
  );
  return new UsageError(`Unknown action "${printable(word)}". Actions: ${short.map(printable).join(", ")}.`);
}
