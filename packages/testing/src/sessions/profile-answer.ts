import type { Profile } from "@shoal/schemas";
import type { ProfileRow } from "../state/store.ts";

export function toProfile({
  conditions,
  createdAt,
  id,
  lastUsedAt,
  location,
  name,
  updatedAt,
  webBotAuth,
}: ProfileRow): Profile {
  return {
    id,
    name,
    created_at: createdAt,
    ...(updatedAt !== undefined && { updated_at: updatedAt }),
    ...(lastUsedAt !== undefined && { last_used_at: lastUsedAt }),
    ...(location && Object.keys(location).length > 0 && { location }),
    ...(conditions && Object.keys(conditions).length > 0 && { conditions }),
    ...(webBotAuth?.enabled === true && { web_bot_auth: webBotAuth }),
  };
}
