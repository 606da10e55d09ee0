import { randomBytes } from "node:crypto";
import type { Browser } from "@shoal/schemas";
import { createId } from "./ids.ts";
import type { FileTree } from "./files/file-tree.ts";
import type { Watches } from "./files/watches.ts";

/** A project. */
export interface ProjectRow {
  readonly id: string;
  name: string;
  status: "active" | "archived";
  readonly createdAt: string;
  updatedAt: string;
  /** Absent or 0 = none. */
  readonly limits: { sessions?: number | undefined; invocations?: number | undefined };
}

/** An API key. Its secret is kept as it is: it opens nothing but the fake. */
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
  deletedAt: string | null;
  lastUsedAt: string | undefined;
}

/** A profile. */
export interface ProfileRow {
  readonly id: string;
  readonly projectId: string;
  name: string | null;
  readonly createdAt: string;
  updatedAt: string | undefined;
  lastUsedAt: string | undefined;
}

/** A browser session: its files are there, its browser is not. */
export interface SessionRow {
  readonly id: string;
  readonly projectId: string;
  name: string | null;
  tags: Record<string, string>;
  readonly createdAt: string;
  readonly timeoutSeconds: number;
  /** The limit of its whole life, which the fake shows and does not enforce. */
  maxDuration: { readonly seconds: number; readonly endsAtMs: number } | undefined;
  viewport: { readonly width: number; readonly height: number; readonly refresh_rate?: number };
  profile: { readonly row: ProfileRow; readonly savesChanges: boolean } | undefined;
  /** What was asked for at the start and is only shown. */
  readonly shown: Pick<Browser, "headless" | "stealth"> & Partial<Browser>;
  ended: { readonly at: string; readonly reason: string } | undefined;
  readonly files: FileTree;
  readonly watches: Watches;
}

/** All that the fake remembers, oldest first. */
export class Store {
  readonly projects: ProjectRow[] = [];
  readonly apiKeys: ApiKeyRow[] = [];
  readonly profiles: ProfileRow[] = [];
  readonly sessions: SessionRow[] = [];
  /** The project of requests that name none, with a key of the whole organisation; never archived. */
  defaultProject: ProjectRow;
  readonly adminKey: ApiKeyRow;

  /** @param adminSecret - of the first key; a new one when absent. */
  constructor(adminSecret?: string) {
    const now = new Date().toISOString();
    this.defaultProject = { id: createId(), name: "default", status: "active", createdAt: now, updatedAt: now, limits: {} };
    this.projects.push(this.defaultProject);
    this.adminKey = createKey(
      { name: "admin", projectId: null, lifetimeDays: null, createdBy: { id: "shoal", email: "admin@localhost", name: "Shoal" } },
      adminSecret,
    );
    this.apiKeys.push(this.adminKey);
  }

  /** By id, or else by name. */
  findProject(idOrName: string): ProjectRow | undefined {
    return this.projects.find(({ id }) => id === idOrName) ?? this.projects.find(({ name }) => name === idOrName);
  }

  /** A key that was not deleted. */
  keyBySecret(secret: string): ApiKeyRow | undefined {
    return this.apiKeys.find((key) => key.secret === secret && key.deletedAt === null);
  }

  /** A session by id, or else, among running ones, by name. @param projectId - `undefined` = of any project. */
  findSession(projectId: string | undefined, idOrName: string): SessionRow | undefined {
    const visible = this.sessions.filter((session) => projectId === undefined || session.projectId === projectId);
    return visible.find(({ id }) => id === idOrName) ?? visible.find(({ ended, name }) => name === idOrName && ended === undefined);
  }
}

/** A new key, not stored yet. @param secret - made by chance when absent. */
export function createKey(
  about: Pick<ApiKeyRow, "name" | "projectId" | "lifetimeDays" | "createdBy">,
  secret = `sk_shoal_${randomBytes(32).toString("base64url")}`,
): ApiKeyRow {
  const { lifetimeDays } = about;
  return {
    ...about,
    id: createId(),
    secret,
    createdAt: new Date().toISOString(),
    expiresAt: lifetimeDays === null ? null : Date.now() + lifetimeDays * dayMs,
    deletedAt: null,
    lastUsedAt: undefined,
  };
}

export const dayMs = 24 * 60 * 60 * 1000;
