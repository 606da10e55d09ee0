import { Alert, Button, Stack, Text } from "@mantine/core";
import type { AuthConnection } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { ExternalLink, TriangleAlert } from "lucide-react";
import { resourceOptions } from "../../api/resource-options.ts";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { durationText } from "../../base/texts.ts";
import { webAddress } from "../../base/web-address.ts";
import { IdText } from "../../parts/code.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { SessionLink } from "../../parts/links/session-link.tsx";
import { ConnectionActions } from "./connection-actions.tsx";
import { ConnectionStatus, isLoggingIn } from "./connection-status.tsx";
import { Timeline } from "./timeline.tsx";

const runningMs = 1500;
const idleMs = 10_000;

export function ConnectionPage() {
  const { id } = useParams({ from: "/connections/$id" });
  const { shoal } = useSignedIn();
  const query = useQuery({
    queryKey: ["connection", id],
    queryFn: async ({ signal }) => shoal.auth.connections.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data !== undefined && isLoggingIn(state.data) ? runningMs : idleMs),
  });
  return (
    <DetailPage
      kind="Connection"
      above={{ label: "Connections", to: "/connections" }}
      query={query}
      head={(connection) => ({
        title: connection.domain,
        windowTitle: `Connection to ${connection.domain}`,
        description: `Profile ${connection.profile_name}`,
        actions: <ConnectionActions connection={connection} />,
      })}
    >
      {(connection) => (
        <>
          {isLoggingIn(connection) ? <RunningLogin connection={connection} /> : <LastFailure connection={connection} />}
          <ConnectionDetails connection={connection} />
          <Timeline connection={connection} />
        </>
      )}
    </DetailPage>
  );
}

const steps: Readonly<Record<string, string>> = {
  DISCOVERING: "The service looks for the login form.",
  AWAITING_INPUT: "The site requests something that a person has to enter.",
  AWAITING_EXTERNAL_ACTION: "The site waits for an action elsewhere, for example on a phone.",
  SUBMITTING: "The service sends the entered values to the site.",
};

function RunningLogin({ connection }: { readonly connection: AuthConnection }) {
  const { external_action_message, flow_expires_at, flow_step, hosted_url, website_error } = connection;
  const canOperate = useCanOperate();
  const href = webAddress(hosted_url);
  return (
    <Alert color="cyan" title="A login is running" role="status">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{steps[flow_step ?? ""] ?? "The login goes on."}</Text>
        {typeof external_action_message === "string" && <Text size="sm">The site says: {external_action_message}</Text>}
        {typeof website_error === "string" && <Text size="sm">The site shows an error: {website_error}</Text>}
        {typeof flow_expires_at === "string" && (
          <Text size="sm" c="dimmed">
            The login expires <Ago at={flow_expires_at} />.
          </Text>
        )}
        {canOperate && href !== undefined && (
          <Button
            component="a"
            href={href}
            target="_blank"
            rel="noreferrer"
            size="xs"
            leftSection={<ExternalLink size={14} aria-hidden />}
          >
            Open the sign-in page
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

function LastFailure({
  connection: { error_code, error_message, flow_status },
}: {
  readonly connection: AuthConnection;
}) {
  if (flow_status !== "FAILED" && flow_status !== "EXPIRED") return null;
  return (
    <Alert
      color="orange"
      icon={<TriangleAlert aria-hidden />}
      title={flow_status === "FAILED" ? "The last login failed" : "The last login expired"}
    >
      <Text size="sm">
        {error_message ?? "It was not completed in time."}
        {typeof error_code === "string" && ` (${error_code})`}
      </Text>
    </Alert>
  );
}

/** `viable_plans_found` → `Viable plans found`. */
const sentenceOf = (code: string): string => (code.charAt(0).toUpperCase() + code.slice(1)).replaceAll("_", " ");

function ProxyName({ id }: { readonly id: string }) {
  const { project, shoal } = useSignedIn();
  const { data: proxies } = useQuery(resourceOptions(shoal, project?.id, "proxies"));
  return proxies?.find(({ value }) => value === id)?.label ?? id;
}

function ConnectionDetails({ connection }: { readonly connection: AuthConnection }) {
  const { allowed_domains, browser_session_id, can_reauth, can_reauth_reason, credential } = connection;
  const { health_check_interval: interval, health_checks, last_auth_check_at, login_url, proxy_id } = connection;
  return (
    <Section title="Details">
      <Details
        rows={[
          ["Status", <ConnectionStatus key="status" connection={connection} />],
          ["Last check", last_auth_check_at === undefined ? "Never" : <Moment key="check" at={last_auth_check_at} />],
          [
            "Credential",
            credential && [credential.name, credential.provider, credential.path].filter(Boolean).join(", "),
          ],
          ["Signs in without a person", can_reauth === true ? "Yes" : "No"],
          ["Reason", can_reauth_reason && sentenceOf(can_reauth_reason)],
          ["Checks", health_checks === false ? "Off" : interval ? `Every ${durationText(interval * 1000)}` : "On"],
          ["Signs in again automatically", connection.auto_reauth === false ? "No" : "Yes"],
          ["Stores entered values", connection.save_credentials ? "Yes" : "No"],
          ["Records logins", connection.record_session ? "Yes" : "No"],
          ["Login form", login_url],
          ["Further domains", allowed_domains?.join(", ")],
          ["Proxy", proxy_id && <ProxyName key="proxy" id={proxy_id} />],
          ["Session of the login", browser_session_id && <SessionLink key="session" id={browser_session_id} />],
          ["Id", <IdText key="id" id={connection.id} />],
        ]}
      />
    </Section>
  );
}
