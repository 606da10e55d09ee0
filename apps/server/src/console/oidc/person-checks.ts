import { ServiceError } from "@shoal/router";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.ts";
import { recentlyUsed } from "../../storage/recently-used.ts";
import type { Secrets } from "../../storage/secrets.ts";
import type { ConsoleSession, ConsoleSessions } from "../console-sessions.ts";
import type { People, Person } from "../people.ts";
import { type Identity, isRefused, type OidcClient } from "./oidc-client.ts";

/** A failed check of an expired confirmation is repeated after this time. */
const retryMs = 5_000;
/** Between two looks for the result of a check by another server. */
const lookMs = 200;
const purpose = "refresh token of the console";

export interface PersonChecksParts {
  readonly client: OidcClient;
  readonly checkMs: number;
  readonly people: People;
  readonly secrets: Pick<Secrets, "seal" | "unsealStored">;
  readonly sessions: ConsoleSessions;
  readonly log: Log;
  /** Default: waits as many milliseconds. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

/** Confirms persons at the provider: at sign-in, and while they use the console. */
export class PersonChecks {
  readonly #parts: PersonChecksParts;
  readonly #running = new Map<string, Promise<Person | undefined>>();
  /** The last check of a session that this server has claimed, by its time. */
  readonly #claimed = recentlyUsed<number>(1000);

  constructor(parts: PersonChecksParts) {
    this.#parts = parts;
  }

  get client(): OidcClient {
    return this.#parts.client;
  }

  /** Starts a session. @throws {ServiceError} 403 for a person without a role. */
  async admit(identity: Identity, nowMs: number): Promise<{ readonly person: Person; readonly token: string }> {
    const { checkMs, secrets, sessions } = this.#parts;
    if (identity.grants.length === 0)
      throw new ServiceError(403, "forbidden", "You have no role in this service.", {
        hint: "Ask its administrator for a role; the setting oidc_roles lists them.",
      });
    const person = await this.#confirm(identity, nowMs);
    const { refreshToken } = identity;
    const holder = {
      userId: person.key.id,
      ...(refreshToken !== undefined && { refreshToken: secrets.seal(refreshToken, purpose) }),
    };
    // Without a refresh token, the person must sign in again for the next check.
    const { token } = await sessions.begin(holder, nowMs, refreshToken === undefined ? checkMs : undefined);
    return { person, token };
  }

  /** Returns the person of a session, after a check if one is due. @returns `undefined` if the session has ended. */
  async current(session: ConsoleSession, nowMs: number): Promise<Person | undefined> {
    const { people } = this.#parts;
    if (!("userId" in session.holder)) return undefined;
    const person = await people.find(session.holder.userId);
    if (person === undefined) return undefined;
    const isExpired = person.key.expiresAtMs <= nowMs;
    const running = this.#running.get(session.id);
    // A page sends several requests at once; all of them need the result.
    if (running !== undefined) return isExpired ? running : person;
    const dueMs = session.checkedAtMs + (isExpired ? retryMs : this.#parts.checkMs / 2);
    if (dueMs > nowMs) {
      if (!isExpired) return person;
      const isOwn = this.#claimed.get(session.id) === session.checkedAtMs;
      return isOwn ? undefined : this.#checkedElsewhere(person.key.id, nowMs);
    }
    const started = this.#check(session, session.holder.refreshToken, { person, nowMs })
      .then((checked) => (checked !== undefined && checked.key.expiresAtMs > nowMs ? checked : undefined))
      .finally(() => this.#running.delete(session.id));
    this.#running.set(session.id, started);
    return started;
  }

  /** Another server asks the provider at this moment. */
  async #checkedElsewhere(userId: string, nowMs: number): Promise<Person | undefined> {
    const { pause = delay, people } = this.#parts;
    for (let waitedMs = 0; waitedMs < retryMs; waitedMs += lookMs) {
      await pause(lookMs);
      people.forget(userId);
      const person = await people.find(userId);
      if (person === undefined || person.key.expiresAtMs > nowMs + waitedMs) return person;
    }
    return undefined;
  }

  async #check(
    session: ConsoleSession,
    sealed: Buffer | undefined,
    { nowMs, person }: { readonly person: Person; readonly nowMs: number },
  ): Promise<Person | undefined> {
    const { client, log, secrets, sessions } = this.#parts;
    const refreshToken = sealed && secrets.unsealStored(sealed, purpose);
    if (refreshToken === undefined) return person;
    if (!(await sessions.claimCheck(session.id, session.checkedAtMs, nowMs)))
      return person.key.expiresAtMs > nowMs ? person : this.#checkedElsewhere(person.key.id, nowMs);
    this.#claimed.set(session.id, nowMs);
    try {
      const identity = await client.refresh(refreshToken, person.subject);
      if (identity.grants.length > 0) {
        await sessions.storeRefreshToken(session.id, secrets.seal(identity.refreshToken ?? refreshToken, purpose));
        return await this.#confirm(identity, nowMs);
      }
    } catch (error) {
      if (!isRefused(error)) {
        log.warn({ err: error, user_id: person.key.id }, "the OpenID Connect provider could not confirm a person");
        return person;
      }
    }
    log.info(
      { user_id: person.key.id },
      "a session of the console was ended: the provider does not confirm the person",
    );
    await sessions.endById(session.id);
    return undefined;
  }

  #confirm({ email, grants, issuer, name, subject }: Identity, nowMs: number): Promise<Person> {
    const { checkMs, people } = this.#parts;
    return people.confirm({
      audience: "console",
      issuer,
      subject,
      name,
      email,
      grants,
      validUntilMs: nowMs + checkMs,
    });
  }
}
