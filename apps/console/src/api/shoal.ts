import { Shoal } from "@shoal/client";
import { createContext, useContext } from "react";
import { serviceUrl } from "../base/place.ts";
import { consoleHeaders, type ConsoleSession } from "./console-session.ts";

const clients = new Map<string, Shoal>();

/** A client of one project. The cookie and the page key of the console's session authenticate it. */
export function shoalOf(projectId: string | undefined): Shoal {
  const key = projectId ?? "";
  const known = clients.get(key);
  if (known !== undefined) return known;
  const shoal = new Shoal({
    apiKey: null,
    baseUrl: serviceUrl,
    project: projectId,
    fetch(request) {
      for (const [name, value] of Object.entries(consoleHeaders())) request.headers.set(name, value);
      return fetch(request);
    },
    direct: false,
  });
  clients.set(key, shoal);
  return shoal;
}

export interface SignedIn {
  readonly session: ConsoleSession;
  readonly project: ConsoleSession["projects"][number] | undefined;
  readonly shoal: Shoal;
}

const SignedInContext = createContext<SignedIn | undefined>(undefined);
export const SignedInProvider = SignedInContext.Provider;

export function useSignedIn(): SignedIn {
  const signedIn = useContext(SignedInContext);
  if (signedIn === undefined) throw new Error("This page needs a signed-in person.");
  return signedIn;
}

/** True for roles that may change things. Unknown roles can, because the service decides. */
export function useCanOperate(): boolean {
  return useSignedIn().project?.role !== "viewer";
}

/** True for unknown roles too, because the service decides. */
export function useIsAdmin(): boolean {
  return !["viewer", "operator"].includes(useSignedIn().project?.role ?? "");
}

interface OrganizationAccess {
  /** Of all projects, or of the project for people without a role in the organization. */
  readonly shoal: Shoal;
  /** Of `shoal`; `undefined` = all. */
  readonly project: string | undefined;
  readonly hasRole: boolean;
  readonly isAdmin: boolean;
}

/** For pages about all projects. */
export function useOrganization(): OrganizationAccess {
  const { session, project } = useSignedIn();
  const role = session.organization_role ?? undefined;
  const id = role === undefined ? project?.id : undefined;
  return {
    shoal: shoalOf(id),
    project: id,
    hasRole: role !== undefined,
    isAdmin: role === "admin",
  };
}
