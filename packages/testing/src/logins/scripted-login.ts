import type { AskedField, FlowError, Question } from "@shoal/contract/logins";
import type { FakeAnswer, FakeLogin, FakeQuestion } from "../state/logins.ts";
import type { ConnectionRow } from "../state/store.ts";
import { toQuestion } from "./default-site.ts";
import type { StoredValues } from "./stored-values.ts";

/** Thrown by `fail`. */
export class LoginFailure extends Error {
  readonly failure: FlowError;
  constructor(failure: FlowError) {
    super(failure.message);
    this.failure = failure;
  }
}

interface Parts {
  readonly connection: ConnectionRow;
  readonly signal: AbortSignal;
  readonly stored: StoredValues;
  /** Asks a person. Rejects when the login ends. */
  readonly wait: (question: Question) => Promise<FakeAnswer>;
}

const isSecret = ({ kind }: AskedField): boolean => kind === "password" || kind === "otp";

/** The side of a login that a site sees. */
export class ScriptedLogin implements FakeLogin {
  readonly connection_id: string;
  readonly domain: string;
  readonly profile_name: string;
  readonly signal: AbortSignal;
  readonly #parts: Parts;
  /** The last answer. */
  #sent = { isStored: false, isCode: false };

  constructor(parts: Parts) {
    const { domain, id, profile } = parts.connection;
    this.connection_id = id;
    this.domain = domain;
    this.profile_name = profile.name ?? profile.id;
    this.signal = parts.signal;
    this.#parts = parts;
  }

  async ask(given: FakeQuestion): Promise<FakeAnswer> {
    this.signal.throwIfAborted();
    const question = toQuestion(given);
    const stored = this.#storedFor(question);
    const missing = question.fields.filter(({ name }) => !stored.has(name));
    const asksNobody = question.fields.length > 0 && !missing.some(({ required }) => required);
    const answer = asksNobody ? { values: {} } : await this.#parts.wait({ ...question, fields: missing });
    if (answer.choice !== undefined) return answer;
    const secrets = question.fields.filter(isSecret);
    const decisive = secrets.length > 0 ? secrets : question.fields;
    this.#sent = {
      isStored: decisive.length > 0 && decisive.every(({ name }) => stored.has(name)),
      isCode: secrets.length > 0 && secrets.every(({ kind }) => kind === "otp"),
    };
    return { values: { ...Object.fromEntries(stored), ...answer.values } };
  }

  fail(code: string, message = `The site ended the login (${code}).`): never {
    throw new LoginFailure({ code, message });
  }

  #storedFor({ fields, refused }: Question): ReadonlyMap<string, string> {
    const { isCode, isStored } = this.#sent;
    // A person corrects a refused answer.
    if (refused !== undefined && !isStored) return new Map();
    const isRepeatable = refused === undefined || isCode;
    const found = new Map(
      (isRepeatable ? fields : []).flatMap((field) => {
        const value = this.#parts.stored.take(field);
        return value === undefined ? [] : [[field.name, value] as const];
      }),
    );
    if (refused !== undefined && found.size === 0)
      throw new LoginFailure({
        code: "credentials_invalid",
        message: "The site refused the stored credentials.",
        websiteError: refused,
      });
    return found;
  }
}
