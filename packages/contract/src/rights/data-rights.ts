/** Rights of a person in a project, weakest first. */
export const roles = ["viewer", "operator", "admin"] as const;
/** One of {@link roles}. */
export type Role = (typeof roles)[number];

interface DataRights {
  /** For the threat model. */
  readonly holds: string;
  /** Role of a person who reads it. */
  readonly read: Role;
  /** Role of a person who changes it. */
  readonly write: Role;
  /** What the key of a deployed app may do. */
  readonly apps: "nothing" | "read" | "read and write";
}

/**
 * The rights to each kind of data. The rights of every operation follow from the data that it moves: see `moves` of
 * `defineEndpoint`.
 */
export const dataRights = {
  caller: {
    holds: "the caller, its role and its project",
    read: "viewer",
    write: "admin",
    apps: "read",
  },
  sessions: {
    holds: "sessions and pools: their existence, state, load and settings",
    read: "viewer",
    write: "operator",
    apps: "read and write",
  },
  page_content: {
    holds: "pictures, texts and recordings of pages, names of downloads; input to pages",
    read: "viewer",
    write: "operator",
    apps: "read and write",
  },
  traffic: {
    holds: "requests with headers, bodies and addresses; console output; every event of the telemetry",
    read: "operator",
    write: "operator",
    apps: "read and write",
  },
  files: {
    holds: "files of a session: downloads, `/proc`, and the profile of its browser with its cookies",
    read: "operator",
    write: "operator",
    apps: "read and write",
  },
  code: {
    holds: "programs, scripts and extensions, their output, logs and environments; the clipboard",
    read: "operator",
    write: "operator",
    apps: "read and write",
  },
  access_links: {
    holds: "addresses that open a session or a login to their holder",
    read: "operator",
    write: "operator",
    apps: "read and write",
  },
  profiles: {
    holds: "profiles and their versions: names, sizes and times",
    read: "viewer",
    write: "operator",
    apps: "read and write",
  },
  cookies: {
    holds: "cookies and storage of a stored profile",
    read: "admin",
    write: "admin",
    apps: "read and write",
  },
  extensions: {
    holds: "names and sizes of stored extensions",
    read: "viewer",
    write: "operator",
    apps: "read and write",
  },
  proxies: {
    holds: "proxies, without their passwords",
    read: "viewer",
    write: "admin",
    apps: "read",
  },
  connections: {
    holds: "connections of Managed Auth, their logins and checks",
    read: "viewer",
    write: "operator",
    apps: "read and write",
  },
  entered_values: {
    holds: "values that a person enters during a login",
    read: "admin",
    write: "operator",
    apps: "read and write",
  },
  apps: {
    holds: "apps and deployments",
    read: "viewer",
    write: "admin",
    apps: "read",
  },
  app_logs: {
    holds: "output of builds and deployments",
    read: "operator",
    write: "admin",
    apps: "nothing",
  },
  invocations: {
    holds: "invocations: their state, times and browsers",
    read: "viewer",
    write: "operator",
    apps: "read and write",
  },
  invocation_data: {
    holds: "payloads, results and logs of invocations and schedules",
    read: "operator",
    write: "operator",
    apps: "read and write",
  },
  schedules: {
    holds: "schedules",
    read: "viewer",
    write: "operator",
    apps: "nothing",
  },
  organization: {
    holds: "projects, limits and usage",
    read: "viewer",
    write: "admin",
    apps: "nothing",
  },
  secrets: {
    holds: "stored credentials and their providers, API keys, signing keys, environments of apps",
    read: "admin",
    write: "admin",
    apps: "nothing",
  },
  destinations: {
    holds: "webhooks, receivers of telemetry and of the audit log",
    read: "admin",
    write: "admin",
    apps: "nothing",
  },
  audit_log: {
    holds: "actions of all callers",
    read: "admin",
    write: "admin",
    apps: "nothing",
  },
} as const satisfies Readonly<Record<string, DataRights>>;

/** The name of a kind of data in {@link dataRights}, such as `secrets`. */
export type Data = keyof typeof dataRights;
type Way = "read" | "write";
/** One kind of data that an operation reads from the service for its caller, or that its caller changes. */
export type Move = `${Way} ${Data}`;

/** Whether a role has all rights of another one. */
export const isAtLeast = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** Whether a person in this role may do it. */
export function mayMove(role: Role, move: Move): boolean {
  const [way, data] = partsOf(move);
  return isAtLeast(role, dataRights[data][way]);
}

function partsOf(move: Move): readonly [Way, Data] {
  return move.split(" ") as unknown as readonly [Way, Data];
}

interface Moving {
  readonly moves?: readonly Move[];
}

/** Returns the role that a person needs for an operation; `admin` without `moves`. */
export function neededRole({ moves = [] }: Moving): Role {
  return roles.find((role) => moves.length > 0 && moves.every((move) => mayMove(role, move))) ?? "admin";
}

/** Whether the key of a deployed app may call an operation. */
export function mayApp({ moves = [] }: Moving): boolean {
  return moves.length > 0 && moves.every(mayAppMove);
}

/** Whether the key of a deployed app may do it. */
export function mayAppMove(move: Move): boolean {
  const [way, data] = partsOf(move);
  return dataRights[data].apps.split(" and ").includes(way);
}
