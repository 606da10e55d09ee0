import type { Database, UsersTable } from "@shoal/database";
import { createId } from "@shoal/primitives";
import type { Selectable } from "kysely";
import type { KeyRow } from "../http/auth/access.ts";
import { createReadCache, type ReadCache } from "../storage/read-cache.ts";
import type { Grant } from "./grants.ts";

/** A person of the OpenID Connect provider. */
export interface Person {
  /** The person in the role of an API key: URLs and connections that depend on it end with `expiresAtMs`. */
  readonly key: KeyRow;
  readonly grants: readonly Grant[];
  readonly issuer: string;
  readonly subject: string;
}

export interface ConfirmedPerson {
  readonly audience: UsersTable["audience"];
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  readonly email: string;
  readonly grants: readonly Grant[];
  readonly validUntilMs: number;
}

type Row = Pick<Selectable<UsersTable>, "email" | "grants" | "id" | "issuer" | "name" | "subject" | "valid_until">;

const columns = ["email", "grants", "id", "issuer", "name", "subject", "valid_until"] as const;

function toPerson({ email, grants, id, issuer, name, subject, valid_until }: Row): Person {
  return {
    key: {
      id,
      name,
      project_id: null,
      created_by_email: email,
      deployment_id: null,
      isPerson: true,
      expiresAtMs: Date.parse(valid_until),
    },
    grants,
    issuer,
    subject,
  };
}

/** The rows of persons, written when the provider confirms them. */
export class People {
  readonly #database: Database;
  readonly #byId: ReadCache<Person & { readonly id: string }>;

  constructor(database: Database) {
    this.#database = database;
    this.#byId = createReadCache({
      max: 10_000,
      isLive: () => database.isListening(),
      isPrivate: database.isJoined,
      idOf: ({ id }) => id,
      load: (id) => this.#load(id),
    });
  }

  /** @returns `undefined` for an unknown person. The confirmation may have expired. */
  async find(id: string): Promise<Person | undefined> {
    return this.#byId.get(id);
  }

  /** Stores that the provider has confirmed the person now, with these rights. Never shortens an earlier confirmation. */
  async confirm({ audience, email, grants, issuer, name, subject, validUntilMs }: ConfirmedPerson): Promise<Person> {
    const facts = { name, email, grants: JSON.stringify(grants) };
    const valid_until = new Date(validUntilMs);
    const row = await this.#database.query
      .insertInto("users")
      .values({ ...facts, id: createId(), audience, issuer, subject, valid_until })
      .onConflict((conflict) =>
        conflict.columns(["issuer", "subject", "audience"]).doUpdateSet((set) => ({
          ...facts,
          valid_until: set.fn<string>("greatest", ["users.valid_until", set.val(valid_until)]),
        })),
      )
      .returning(columns)
      .executeTakeFirstOrThrow();
    this.forget(row.id);
    return toPerson(row);
  }

  forget(id: string): void {
    this.#byId.forget(id);
  }

  forgetAll(): void {
    this.#byId.forgetAll();
  }

  async #load(id: string): Promise<(Person & { readonly id: string }) | undefined> {
    const row = await this.#database.query.selectFrom("users").select(columns).where("id", "=", id).executeTakeFirst();
    return row && { ...toPerson(row), id };
  }
}
