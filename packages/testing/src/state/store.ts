import { randomBytes } from "node:crypto";
import type {
  AuthConnection,
  Browser,
  BrowserConditions,
  Handoff,
  LiveViewLink,
  TimelineEvent,
  WebBotAuth,
} from "@shoal/schemas";
import { createId } from "@shoal/primitives";

import type { Allowlist, RequestedLocation } from "@shoal/contract/network";
import type { KeyPolicy } from "@shoal/contract/rights";
import type { Totp } from "@shoal/primitives/totp";
import type { FileTree } from "../files/file-tree.ts";
import type { Watches } from "../files/watches.ts";
import type { FakeProviderItem, FakeSite, LoginRow } from "./logins.ts";
import type { DeploymentRow, FakeAction, InvocationRow, ScheduleRow } from "./apps.ts";
import type { WebhookRow } from "./webhooks.ts";

export interface ProjectRow {
  readonly id: string;
  name: string;
  status: "active" | "archived";
  readonly createdAt: string;
  updatedAt: string;
  network: { allow?: string[]; deny?: string[] } | undefined;
  /** Absent = as the service: see `serviceDefaults`. */
  defaultTelemetry?: readonly string[] | undefined;
  defaultRecording?: boolean | undefined;
  /** Absent or 0 = unlimited. */
  readonly limits: { sessions?: number | undefined; invocations?: number | undefined };
}

/** The fake records nothing. */
export const serviceDefaults = { default_telemetry: ["off"], default_recording: false };

/** An API key with its secret in plain text, which only opens the fake. */
export interface ApiKeyRow {
  readonly id: string;
  name: string;
  readonly secret: string;
  readonly projectId: string | null;
  readonly createdBy: { readonly id: string; readonly email: string; readonly name: string | null };
  readonly createdAt: string;
  /** Epoch milliseconds; `null` = never. */
  expiresAt: number | null;
  readonly lifetimeDays: number | null;
  /** `undefined` = every right. */
  readonly policy?: KeyPolicy | undefined;
  deletedAt: string | null;
  lastUsedAt: string | undefined;
}

export interface ProfileRow {
  readonly id: string;
  readonly projectId: string;
  name: string | null;
  readonly createdAt: string;
  updatedAt: string | undefined;
  lastUsedAt: string | undefined;
  webBotAuth: WebBotAuth | undefined;
  location: RequestedLocation | undefined;
  conditions: BrowserConditions | undefined;
}

/** The values are in plain text and exist in the test's memory only. */
export interface CredentialRow {
  readonly id: string;
  readonly projectId: string;
  name: string;
  readonly domain: string;
  sites: readonly string[];
  ssoProvider: string | null;
  values: ReadonlyMap<string, string>;
  totp: Totp | undefined;
  readonly createdAt: string;
  updatedAt: string;
}

/** Its token is not stored: the fake connects to no password manager. */
export interface CredentialProviderRow {
  readonly id: string;
  readonly projectId: string;
  readonly type: string;
  name: string;
  enabled: boolean;
  priority: number;
  cacheTtlSeconds: number;
  settings: Readonly<Record<string, string>>;
  readonly createdAt: string;
  updatedAt: string;
}

/** A browser session: a record with files, without a browser. */
export interface SessionRow {
  /** Its forks are exact. */
  readonly forkable: boolean;
  readonly id: string;
  readonly projectId: string;
  /** The key that started it. */
  readonly apiKeyId: string;
  /** The invocation that started it. */
  readonly invocationId: string | undefined;
  name: string | null;
  tags: Record<string, string>;
  readonly createdAt: string;
  readonly timeoutSeconds: number;
  /** The limit of its lifetime, which the fake shows but does not enforce. */
  maxDuration: { readonly seconds: number; readonly endsAtMs: number } | undefined;
  /** Shown, but sessions of the fake never sleep. 0 = never. */
  disconnectTimeoutSeconds: number | undefined;
  sleepAfterSeconds: number;
  viewport: { readonly width: number; readonly height: number; readonly refresh_rate?: number };
  profile: { readonly row: ProfileRow; readonly savesChanges: boolean } | undefined;
  network: { allow?: string[]; deny?: string[] } | undefined;
  /** Its hosts and revision, also after the removal. */
  allowlist: Allowlist | undefined;
  /** Start options without behaviour, shown in answers. */
  shown: Pick<Browser, "headless" | "stealth"> & Partial<Browser>;
  ended: { readonly at: string; readonly reason: string } | undefined;
  readonly files: FileTree;
  readonly watches: Watches;
  /** Oldest first. */
  readonly handoffs: Handoff[];
  readonly links: LiveViewLink[];
}

/** A connection of a profile to a site. */
export interface ConnectionRow {
  readonly id: string;
  readonly projectId: string;
  readonly profile: ProfileRow;
  readonly domain: string;
  credential: CredentialRow | undefined;
  /** An item of a credential provider, by its path or by the domain. */
  credentialSource: { readonly provider: string; readonly path: string | undefined } | undefined;
  status: "AUTHENTICATED" | "NEEDS_AUTH";
  /** Oldest first. */
  readonly logins: LoginRow[];
  /** Oldest first. */
  readonly checks: TimelineEvent[];
  /** The site has ended the login. */
  isExpired: boolean;
  /** Settings as answers show them. */
  settings: Pick<AuthConnection, "save_credentials" | "record_session"> & Partial<AuthConnection>;
}

/** The fake's state, oldest first. */
export class Store {
  readonly projects: ProjectRow[] = [];
  readonly apiKeys: ApiKeyRow[] = [];
  readonly profiles: ProfileRow[] = [];
  readonly credentialProviders: CredentialProviderRow[] = [];
  readonly credentials: CredentialRow[] = [];
  readonly sessions: SessionRow[] = [];
  readonly connections: ConnectionRow[] = [];
  /** The sites of `fake.addSite`, by domain. */
  readonly sites = new Map<string, FakeSite>();
  /** The items of credential providers, by the provider's name. */
  readonly providerItems = new Map<string, FakeProviderItem[]>();
  readonly deployments: DeploymentRow[] = [];
  readonly invocations: InvocationRow[] = [];
  readonly schedules: ScheduleRow[] = [];
  readonly webhooks: WebhookRow[] = [];
  /** The apps of `fake.addApp` with their actions, by name. */
  readonly apps = new Map<string, Readonly<Record<string, FakeAction>>>();
  /** The project of requests without a project, with a key of the organisation; never archived. */
  defaultProject: ProjectRow;
  readonly adminKey: ApiKeyRow;

  /** @param adminSecret - of the first key; default a new one. */
  constructor(adminSecret?: string) {
    const now = new Date().toISOString();
    this.defaultProject = {
      id: createId(),
      name: "default",
      status: "active",
      createdAt: now,
      updatedAt: now,
      network: undefined,
      limits: {},
    };
    this.projects.push(this.defaultProject);
    this.adminKey = createKey(
      {
        name: "admin",
        projectId: null,
        lifetimeDays: null,
        expiresAt: null,
        createdBy: { id: "shoal", email: "admin@localhost", name: "Shoal" },
      },
      adminSecret,
    );
    this.apiKeys.push(this.adminKey);
  }

  findProject(idOrName: string): ProjectRow | undefined {
    return this.projects.find(({ id }) => id === idOrName) ?? this.projects.find(({ name }) => name === idOrName);
  }

  keyBySecret(secret: string): ApiKeyRow | undefined {
    return this.apiKeys.find((key) => key.secret === secret && key.deletedAt === null);
  }

  /** @param projectId - `undefined` = any project. */
  findSession(projectId: string | undefined, idOrName: string): SessionRow | undefined {
    const visible = this.sessions.filter((session) => projectId === undefined || session.projectId === projectId);
    return (
      visible.find(({ id }) => id === idOrName) ??
      visible.find(({ ended, name }) => name === idOrName && ended === undefined)
    );
  }
}

/** Creates a key without storing it. @param secret - default random. */
export function createKey(
  about: Pick<ApiKeyRow, "name" | "projectId" | "lifetimeDays" | "expiresAt" | "createdBy" | "policy">,
  secret = `sk_shoal_${randomBytes(32).toString("base64url")}`,
): ApiKeyRow {
  return {
    ...about,
    id: createId(),
    secret,
    createdAt: new Date().toISOString(),
    deletedAt: null,
    lastUsedAt: undefined,
  };
}

export const dayMs = 24 * 60 * 60 * 1000;
