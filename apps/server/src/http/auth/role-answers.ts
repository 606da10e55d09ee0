import type { Endpoint } from "@shoal/contract";
import type { Handler, HandlerCall, StreamFrame } from "@shoal/router";
import type { Access } from "./access.ts";
import { isAtLeast, type Role } from "./roles.ts";

interface Withheld {
  readonly needed: Role;
  /** For a field that the contract requires; optional fields are removed. */
  readonly replacement?: "" | Readonly<Record<string, never>>;
}

/** Addresses with the right to control a session or a login, and secrets. */
const withheld: ReadonlyMap<string, Withheld> = new Map<string, Withheld>([
  ["browser_live_view_url", { needed: "operator" }],
  ["cdp_ws_url", { needed: "operator", replacement: "" }],
  ["webdriver_ws_url", { needed: "operator", replacement: "" }],
  ["env_vars", { needed: "admin", replacement: {} }],
  ["handoff_code", { needed: "operator" }],
  ["hosted_url", { needed: "operator" }],
  ["live_view_url", { needed: "operator" }],
  // Of invocations and schedules.
  ["output", { needed: "operator" }],
  ["payload", { needed: "operator" }],
]);

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function shownTo(role: Role, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => shownTo(role, item));
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const shown: Record<string | symbol, unknown> = {};
  // The router marks results with symbols.
  for (const mark of Object.getOwnPropertySymbols(value)) shown[mark] = Reflect.get(value, mark) as unknown;
  for (const [name, item] of Object.entries(value)) {
    const rule = withheld.get(name);
    if (rule === undefined || isAtLeast(role, rule.needed)) shown[name] = shownTo(role, item);
    else if (rule.replacement !== undefined) shown[name] = rule.replacement;
  }
  return shown;
}

async function* shownFrames(
  role: Role,
  frames: AsyncIterable<StreamFrame<object>>,
): AsyncGenerator<StreamFrame<object>> {
  for await (const frame of frames)
    yield "data" in frame ? { ...frame, data: shownTo(role, frame.data) as object } : frame;
}

/** Removes secrets and control from the answers of JSON operations for persons without the role for them. */
export function forRoles(endpoint: Endpoint, handler: Handler<Endpoint, Access>): Handler<Endpoint, Access> {
  const kinds = new Set(Object.values(endpoint.responses).map(({ kind }) => kind));
  if (kinds.has("bytes")) return handler;
  return async (call: HandlerCall<Endpoint, Access>) => {
    const { role } = call.context;
    const answer = (await handler(call)) as unknown;
    if (role === undefined || role === "admin" || answer === undefined) return answer as undefined;
    const shown = kinds.has("events")
      ? shownFrames(role, answer as AsyncIterable<StreamFrame<object>>)
      : shownTo(role, answer);
    return shown as undefined;
  };
}
