import type { AuthFlowsTable } from "@shoal/database";
import type { Selectable } from "kysely";
import type { Access } from "../../http/auth/access.ts";
import type { Secrets } from "../../storage/secrets.ts";

export type HandedFlow = Pick<Selectable<AuthFlowsTable>, "connection_id" | "handoffs" | "id">;

/** The caller who receives a link. The link ends with its key. */
export interface LinkReader extends Pick<Access, "baseUrl"> {
  readonly key: Pick<Access["key"], "id">;
}

export interface LinkCode {
  readonly flowId: string;
  readonly keyId: string;
  /** Number of codes of the login that were exchanged before it. */
  readonly number: number;
}

const use = "handoff";
/** `{login}.{key}.{number, base 36}.{signature}` */
const pattern = /^((\w{1,64})\.(\w{1,64})\.([0-9a-z]{1,6}))\.([\w-]{43})$/;

/** Path of the sign-in page, below the base URL. */
export const signInPath = "/auth/sign-in";

/** Codes for the page on which a person signs in. They are derived, so every answer can contain one. */
export class LinkCodes {
  readonly #secrets: Pick<Secrets, "hasSigned" | "sign">;

  constructor(secrets: Pick<Secrets, "hasSigned" | "sign">) {
    this.#secrets = secrets;
  }

  /** Returns the same code until it is exchanged. */
  codeOf({ handoffs, id }: Omit<HandedFlow, "connection_id">, { key }: Pick<LinkReader, "key">): string {
    const text = `${id}.${key.id}.${handoffs.toString(36)}`;
    return `${text}.${this.#secrets.sign(use, text)}`;
  }

  hostedUrlOf(flow: HandedFlow, reader: LinkReader): string {
    return `${reader.baseUrl}${signInPath}/${flow.connection_id}?code=${this.codeOf(flow, reader)}`;
  }

  /** @returns `undefined` for a code that this service has not derived. */
  open(code: string): LinkCode | undefined {
    const [, text = "", flowId = "", keyId = "", number = "", signature = ""] = pattern.exec(code) ?? [];
    return this.#secrets.hasSigned(use, text, signature)
      ? { flowId, keyId, number: Number.parseInt(number, 36) }
      : undefined;
  }
}
