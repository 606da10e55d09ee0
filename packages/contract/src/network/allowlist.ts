import { invalid, type Refusal } from "../refusals/refusal.ts";

/** The list of `network.allowed_hosts` of a session, and its revision. */
export interface Allowlist {
  /** Canonical; absent after the removal. */
  readonly hosts?: readonly string[];
  readonly state: {
    readonly revision: string;
    readonly base_revision?: string;
    readonly mutation_id?: string;
  };
}

/** What the callers bring along. */
export interface AllowlistTools {
  /** Returns canonical entries, or the first problem. */
  readonly readHosts: (
    entries: readonly string[],
    privateHosts: readonly string[],
  ) =>
    | { readonly entries: readonly string[] }
    | { readonly index: number; readonly problem: string; readonly hint: string };
  readonly newRevision: () => string;
}

/** Changes of a list, as requests write them; `null` removes it. */
export interface RequestedAllowlist {
  readonly allowed_hosts?: readonly string[] | null | undefined;
  readonly expected_allowlist_revision?: string | undefined;
  readonly mutation_id?: string | undefined;
}

const maxCharacters = 253;
const field = "body.network.allowed_hosts";

function readList(
  entries: readonly string[],
  privateHosts: readonly string[],
  { readHosts }: AllowlistTools,
): { readonly hosts: readonly string[] } | { readonly refusal: Refusal } {
  const long = entries.findIndex(({ length }) => length > maxCharacters);
  if (long !== -1)
    return {
      refusal: invalid(`${field}[${String(long)}]`, `expected at most ${String(maxCharacters)} characters`, {
        limit: maxCharacters,
      }),
    };
  const read = readHosts(entries, privateHosts);
  if ("entries" in read) return { hosts: read.entries };
  const { hint, index, problem } = read;
  return { refusal: invalid(`${field}[${String(index)}]`, `${JSON.stringify(entries[index])} ${problem}`, { hint }) };
}

/** Returns the list of a new session, `undefined` without one, or a 400. */
export function newAllowlist(
  {
    allowed_hosts: entries,
    private_hosts: privateHosts = [],
  }: {
    readonly allowed_hosts?: readonly string[] | undefined;
    readonly private_hosts?: readonly string[] | undefined;
  },
  tools: AllowlistTools,
): { readonly allowlist: Allowlist | undefined } | { readonly refusal: Refusal } {
  if (entries === undefined) return { allowlist: undefined };
  const read = readList(entries, privateHosts, tools);
  if ("refusal" in read) return read;
  return { allowlist: { hosts: read.hosts, state: { revision: tools.newRevision() } } };
}

/** Returns the list after a request, or a 400 or 409. */
export function changedAllowlist(
  request: RequestedAllowlist,
  {
    present,
    privateHosts = [],
  }: {
    readonly present: Allowlist | undefined;
    readonly privateHosts?: readonly string[] | undefined;
  },
  tools: AllowlistTools,
): { readonly allowlist: Allowlist | undefined } | { readonly refusal: Refusal } {
  const { allowed_hosts: entries, expected_allowlist_revision: expected, mutation_id: mutation } = request;
  if ((expected === undefined) !== (mutation === undefined))
    return {
      refusal: invalid(
        expected === undefined ? "body.network.mutation_id" : "body.network.expected_allowlist_revision",
        "expected_allowlist_revision and mutation_id belong together",
        { hint: "Send both, or neither." },
      ),
    };
  if (entries === undefined) {
    if (expected === undefined) return { allowlist: present };
    return { refusal: invalid(field, "is missing, and expected_allowlist_revision is about it") };
  }
  if (present === undefined && entries === null && expected === undefined) return { allowlist: undefined };
  if (present === undefined)
    return {
      refusal: invalid(field, "the session was created without a list, and cannot get one", { hint: newSession }),
    };
  const read = entries === null ? { hosts: undefined } : readList(entries, privateHosts, tools);
  if ("refusal" in read) return read;
  const { hosts } = read;
  if (expected !== undefined) {
    const { base_revision, mutation_id, revision } = present.state;
    const isSame = base_revision === expected && mutation_id === mutation && isEqual(hosts, present.hosts);
    if (isSame) return { allowlist: present };
    if (expected !== revision || mutation === mutation_id) return { refusal: staleAllowlist(revision) };
  }
  if (present.hosts === undefined && hosts !== undefined)
    return { refusal: invalid(field, "the list of the session was removed, and cannot return", { hint: newSession }) };
  return {
    allowlist: {
      ...(hosts && { hosts }),
      state: {
        revision: tools.newRevision(),
        ...(expected !== undefined && mutation !== undefined && { base_revision: expected, mutation_id: mutation }),
      },
    },
  };
}

const newSession = "Create another session with network.allowed_hosts.";

function isEqual(one: readonly string[] | undefined, other: readonly string[] | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function staleAllowlist(revision: string): Refusal {
  return {
    status: 409,
    code: "stale_network",
    problem: `network.allowed_hosts of the session has another revision (${revision}), or another change with this mutation_id.`,
    field: "body.network.expected_allowlist_revision",
    hint: "Read the session again with browsers.get, and repeat the change with a new mutation_id if it still applies.",
  };
}

/** 400 for a page outside of the list. */
export function pageOutsideAllowlist(host: string): Refusal {
  return invalid("body.start_url", `network.allowed_hosts does not contain its host ${host}`, {
    hint: "Add the host to network.allowed_hosts, or omit start_url.",
  });
}
