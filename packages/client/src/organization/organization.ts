import { getOrgEntitlements, getOrgLimits, updateOrgLimits } from "@shoal/contract";
import type { OrgEntitlements, OrgLimits, UpdateOrgLimits } from "@shoal/schemas";
import type { Call, CallOptions, Transport } from "@shoal/transport";

/** Limits of the organisation. */
export class OrganizationLimits {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Limits for all projects together. */
  get(options?: CallOptions): Call<OrgLimits> {
    return this.#transport.call(getOrgLimits, {}, options);
  }
  /** Changes the default limits of projects; 0 removes a limit. @throws {ApiError} 400 above the organisation's limit; 403 for a project's key. */
  update(body: UpdateOrgLimits, options?: CallOptions): Call<OrgLimits> {
    return this.#transport.call(updateOrgLimits, { body }, options);
  }
}

/** Plan and features of the organisation. */
export class OrganizationEntitlements {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns the plan with its features and quotas. */
  get(options?: CallOptions): Call<OrgEntitlements> {
    return this.#transport.call(getOrgEntitlements, {}, options);
  }
}

/** The organisation of the key. */
export class Organization {
  readonly limits: OrganizationLimits;
  readonly entitlements: OrganizationEntitlements;
  constructor(transport: Transport) {
    this.limits = new OrganizationLimits(transport);
    this.entitlements = new OrganizationEntitlements(transport);
  }
}
