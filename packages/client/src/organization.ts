import { getOrgEntitlements, getOrgLimits, updateOrgLimits } from "@shoal/contract";
import type { OrgEntitlements, OrgLimits, UpdateOrgLimits } from "@shoal/schemas";
import type { CallOptions, Transport } from "@shoal/transport";

/** How much the organisation may use at once. */
export class OrganizationLimits {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Limits for all projects together. */
  get(options?: CallOptions): Promise<OrgLimits> {
    return this.#transport.call(getOrgLimits, {}, options);
  }
  /** Changes what projects without a limit of their own may use: 0 takes the limit away, what is absent stays. @throws {ApiError} 400 above the organisation's limit; 403 for a project's key. */
  update(body: UpdateOrgLimits, options?: CallOptions): Promise<OrgLimits> {
    return this.#transport.call(updateOrgLimits, { body }, options);
  }
}

/** What the organisation may use. */
export class OrganizationEntitlements {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The plan, the features that it has, and how much of them can be used. */
  get(options?: CallOptions): Promise<OrgEntitlements> {
    return this.#transport.call(getOrgEntitlements, {}, options);
  }
}

/** The organisation that the key belongs to. */
export class Organization {
  /** How much it may use at once. */
  readonly limits: OrganizationLimits;
  /** What it may use. */
  readonly entitlements: OrganizationEntitlements;
  constructor(transport: Transport) {
    this.limits = new OrganizationLimits(transport);
    this.entitlements = new OrganizationEntitlements(transport);
  }
}
