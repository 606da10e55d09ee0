import { ServiceError } from "@shoal/router";
import type { ReadCache } from "../../storage/read-cache.ts";
import type { KeyRow } from "./access.ts";
import { keyProblem } from "./key-problem.ts";

/** Checks the API keys that session tokens and live-view URLs were issued to. */
export interface IssuingKeys {
  /** Returns the key. @throws {ServiceError} 401 `unauthorized` if the key is deleted or expired. */
  require(keyId: string): Promise<KeyRow>;
}

export function createIssuingKeys(keys: Pick<ReadCache<KeyRow>, "get">): IssuingKeys {
  return {
    async require(keyId) {
      const key = await keys.get(keyId);
      const problem = keyProblem(key);
      if (key !== undefined && problem === undefined) return key;
      throw new ServiceError(
        401,
        "unauthorized",
        `This address was issued to an API key that is no longer valid. ${problem ?? ""}`,
        { hint: "Get a new address from browsers.get with a valid key." },
      );
    },
  };
}
