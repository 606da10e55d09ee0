import { Alert, Anchor } from "@mantine/core";
import { ApiError } from "@shoal/client";
import { Link } from "@tanstack/react-router";
import { CircleAlert, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { type Crumb, Page } from "../page.tsx";
import { Failure, Loading } from "../states.tsx";

interface Head {
  readonly title: string;
  /** Default: kind and title. */
  readonly windowTitle?: string;
  /** The status, or one sentence. */
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
}

interface DetailPageProps<Resource> {
  /** Singular: `Pool`. */
  readonly kind: string;
  /** The list of these resources. */
  readonly above: Crumb;
  readonly query: {
    readonly data: Resource | undefined;
    readonly error: Error | null;
    readonly refetch: () => Promise<unknown>;
  };
  readonly head: (resource: Resource) => Head;
  /** Shown until the first answer. */
  readonly loading?: ReactNode;
  readonly children: (resource: Resource) => ReactNode;
}

/** The page of one resource, with its states: loading, failure, shown, deleted while the page is open. */
export function DetailPage<Resource>({ kind, above, query, head, loading, children }: DetailPageProps<Resource>) {
  const { data, error } = query;
  const name = kind.toLowerCase();
  const isGone = ApiError.isInstance(error) && error.status === 404;
  const failure = error !== null && <Failure error={error} retry={() => void query.refetch()} />;
  if (data === undefined)
    return (
      <Page trail={[above]} title={kind}>
        {isGone ? (
          <Missing name={name} above={above} />
        ) : (
          failure || (loading ?? <Loading label={`Loading the ${name}`} />)
        )}
      </Page>
    );
  const { title, windowTitle = `${kind} ${title}`, description, actions } = head(data);
  return (
    <Page
      trail={[above]}
      title={title}
      windowTitle={windowTitle}
      description={description}
      actions={isGone ? undefined : actions}
    >
      {isGone ? <Deleted name={name} above={above} /> : failure}
      {children(data)}
    </Page>
  );
}

interface GoneProps {
  readonly name: string;
  readonly above: Crumb;
}

/** The service's text names operations, which this page does not have. */
function Missing({ name, above: { label, ...to } }: GoneProps) {
  return (
    <Alert color="red" icon={<CircleAlert aria-hidden />} title="Not found" role="alert" my="md">
      This project has no {name} with this address. It may have been deleted, or be in another project.{" "}
      <Anchor size="sm" renderRoot={(props) => <Link {...to} {...props} />}>
        {label}
      </Anchor>
    </Alert>
  );
}

function Deleted({ name, above: { label, ...to } }: GoneProps) {
  return (
    <Alert color="gray" icon={<Trash2 aria-hidden />} title={`This ${name} was deleted`} role="alert">
      The page shows its last state.{" "}
      <Anchor size="sm" renderRoot={(props) => <Link {...to} {...props} />}>
        {label}
      </Anchor>
    </Alert>
  );
}
