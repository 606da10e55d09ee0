import type { Profile } from "@shoal/schemas";
import type { ProfileRow } from "../state/store.ts";

export function toProfile({ createdAt, id, lastUsedAt, name, updatedAt, webBotAuth }: ProfileRow): Profile {
  return {
    id,
    name,
    created_at: createdAt,
    ...(updatedAt !== undefined && { updated_at: updatedAt }),
    ...(lastUsedAt !== undefined && { last_used_at: lastUsedAt }),
    ...(webBotAuth?.enabled === true && { web_bot_auth: webBotAuth }),
  };
}
