import type { PooledRequest } from "../browsers/running-session.ts";
import type { PoolCondition } from "./pool-condition.ts";

export interface PoolConfig extends PooledRequest {
  readonly fill_rate_per_minute: number;
  readonly timeout_seconds: number;
  readonly profile?: { readonly id?: string | undefined; readonly name?: string | undefined } | undefined;
  /** Replaces warm browsers when the profile changes. */
  readonly refresh_on_profile_update?: boolean | undefined;
}

export interface PoolRow {
  readonly id: string;
  readonly project_id: string;
  readonly name: string | null;
  readonly size: number;
  readonly config: PoolConfig;
  readonly credits: number;
  readonly fill_at: string;
  readonly condition: PoolCondition;
  readonly created_at: string;
  /** Servers of this region fill the pool. */
  readonly region: string;
}

export interface CountedPool extends PoolRow {
  readonly available: number;
  readonly acquired: number;
}
