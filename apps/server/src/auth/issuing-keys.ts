import { ServiceError } from "@shoal/router";
import type { ReadCache } from "../read-cache.ts";
import type { KeyRow } from "./access.ts";
import { keyProblem } from "./key-problem.ts";

/** Checks the API keys that session tokens and live-view addresses were handed out to. */
export interface IssuingKeys {
  /** @throws {ServiceError} 401 `unauthorized` when the key was deleted or has expired. */
  require(keyId: string): Promise<void>;
}

/** @param keys - looked up by id. */
export function createIssuingKeys(keys: Pick<ReadCache<KeyRow>, "get">): IssuingKeys {
  return {
    async require(keyId) {
      const problem = keyProblem(await keys.get(keyId));
      if (problem === undefined) return;
      throw new ServiceError(
        401,
        "unauthorized",
        `This address was handed out to an API key that is no longer valid. ${problem} Get a new address from browsers.get with a valid key.`,
      );
    },
  };
}
