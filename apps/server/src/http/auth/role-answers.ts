import { contract, type Endpoint } from "@shoal/contract";
import type { Handler, HandlerCall, StreamFrame } from "@shoal/router";
import type { Access } from "./access.ts";
import { type Data, mayAppMove, mayMove } from "@shoal/contract/rights";

interface Withheld {
  /** The data that the field holds. */
  readonly data: Data;
  /** For a field that the contract requires; optional fields are removed. */
  readonly replacement?: "" | Readonly<Record<string, never>>;
  /** The operation that the value replaces: its holder needs no key. A key with a policy gets it only with this right. */
  readonly opens?: Endpoint;
}

/** Fields with other data than the rest of their answers. */
const withheld: ReadonlyMap<string, Withheld> = new Map<string, Withheld>([
  ["browser_live_view_url", { data: "access_links" }],
  ["cdp_ws_url", { data: "access_links", replacement: "" }],
  ["webdriver_ws_url", { data: "access_links", replacement: "" }],
  ["playwright_ws_url", { data: "access_links" }],
  ["handoff_code", { data: "access_links", opens: contract.startLogin }],
  ["hosted_url", { data: "access_links", opens: contract.startLogin }],
  ["live_view_url", { data: "access_links" }],
  ["env_vars", { data: "secrets", replacement: {} }],
  ["output", { data: "invocation_data" }],
  ["payload", { data: "invocation_data" }],
  ["flow_run", { data: "invocation_data" }],
]);

/** What a caller may read. */
type Reader = (field: Withheld) => boolean;

/** `undefined` for callers with every right. */
function readerOf({ key, projectId, role }: Pick<Access, "key" | "projectId" | "role">): Reader | undefined {
  const { policy } = key;
  const isOpen = ({ opens }: Withheld) =>
    opens === undefined || policy === undefined || policy.permit(opens, projectId) !== undefined;
  if (key.deployment_id !== null) return (field) => mayAppMove(`read ${field.data}`) && isOpen(field);
  return role === undefined || role === "admin"
    ? undefined
    : (field) => mayMove(role, `read ${field.data}`) && isOpen(field);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function shownTo(may: Reader, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => shownTo(may, item));
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const shown: Record<string | symbol, unknown> = {};
  // The router marks results with symbols.
  for (const mark of Object.getOwnPropertySymbols(value)) shown[mark] = Reflect.get(value, mark) as unknown;
  for (const [name, item] of Object.entries(value)) {
    const rule = withheld.get(name);
    if (rule === undefined || may(rule)) shown[name] = shownTo(may, item);
    else if (rule.replacement !== undefined) shown[name] = rule.replacement;
  }
  return shown;
}

async function* shownFrames(
  may: Reader,
  frames: AsyncIterable<StreamFrame<object>>,
): AsyncGenerator<StreamFrame<object>> {
  for await (const frame of frames)
    yield "data" in frame ? { ...frame, data: shownTo(may, frame.data) as object } : frame;
}

/** Removes fields from the answers of JSON operations for callers without the right to their data. */
export function forRoles(endpoint: Endpoint, handler: Handler<Endpoint, Access>): Handler<Endpoint, Access> {
  const kinds = new Set(Object.values(endpoint.responses).map(({ kind }) => kind));
  if (kinds.has("bytes")) return handler;
  return async (call: HandlerCall<Endpoint, Access>) => {
    const may = readerOf(call.context);
    const answer = (await handler(call)) as unknown;
    if (may === undefined || answer === undefined) return answer as undefined;
    const shown = kinds.has("events")
      ? shownFrames(may, answer as AsyncIterable<StreamFrame<object>>)
      : shownTo(may, answer);
    return shown as undefined;
  };
}
