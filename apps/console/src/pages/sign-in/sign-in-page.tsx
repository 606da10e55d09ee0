import { Alert, Anchor, Button, Center, Divider, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { type SyntheticEvent, useEffect, useRef, useState } from "react";
import { signIn, signInWaysQuery, takeLinkCode } from "../../api/console-session.ts";
import { serviceUrl } from "../../base/place.ts";
import { shownError } from "../../base/shown-error.ts";
import { Loading } from "../../parts/states.tsx";
import { Logo } from "../../parts/logo.tsx";

export function SignInPage() {
  const queries = useQueryClient();
  const ways = useQuery(signInWaysQuery);
  const [key, setKey] = useState("");
  const { error, isPending, mutate } = useMutation({
    mutationFn: (proof: { readonly api_key: string } | { readonly link_code: string }) => signIn(queries, proof),
  });
  const hasRead = useRef(false);
  useEffect(() => {
    document.title = "Sign in · Shoal";
    // React runs effects twice in development, and a code works once.
    if (hasRead.current) return;
    hasRead.current = true;
    const code = takeLinkCode();
    if (code !== undefined && isSecureContext) mutate({ link_code: code });
  }, [mutate]);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (key.trim() !== "") mutate({ api_key: key.trim() });
  };
  const oidc = ways.data?.oidc;
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder shadow="sm" radius="lg" p="xl" w="100%" maw={420}>
        <Stack gap="lg">
          <Logo size={40} />
          <div>
            <Title order={1} size="h3">
              Sign in to Shoal
            </Title>
            <Text c="dimmed" size="sm" mt={4}>
              Watch, control and debug the browsers of your agents.
            </Text>
          </div>
          {error !== null && (
            <Alert color="red" icon={<CircleAlert aria-hidden />} role="alert" title="You are not signed in">
              {shownError(error)}
            </Alert>
          )}
          {!isSecureContext ? (
            <Alert color="red" icon={<CircleAlert aria-hidden />} role="alert" title="This page is not encrypted">
              Others on the network could read your key, so the console needs https here. Put a proxy with TLS in front
              of the service and set public_url, or open http://127.0.0.1 on its machine.
            </Alert>
          ) : ways.isPending ? (
            <Loading />
          ) : (
            <>
              {oidc != null && (
                <Button component="a" href={new URL(oidc.href, `${serviceUrl}/`).href} size="md" fullWidth>
                  {oidc.label}
                </Button>
              )}
              {oidc != null && ways.data?.api_key === true && <Divider label="or with an API key" />}
              {ways.data?.api_key !== false && (
                <KeyForm {...{ isPending, keyText: key, setKey, submit, isSecond: oidc != null }} />
              )}
            </>
          )}
        </Stack>
      </Paper>
    </Center>
  );
}

interface KeyFormProps {
  readonly keyText: string;
  readonly setKey: (key: string) => void;
  readonly submit: (event: SyntheticEvent) => void;
  readonly isPending: boolean;
  readonly isSecond: boolean;
}

function KeyForm({ keyText, setKey, submit, isPending, isSecond }: KeyFormProps) {
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <PasswordInput
          label="API key"
          description="The service exchanges it for a session of this browser. The key is not stored."
          placeholder="sk_…"
          value={keyText}
          onChange={(event) => {
            setKey(event.currentTarget.value);
          }}
          autoComplete="off"
          autoFocus={!isSecond}
          required
          withAsterisk={false}
          visibilityToggleButtonProps={{ "aria-label": "Show the key", tabIndex: 0 }}
        />
        <Button type="submit" size="md" loading={isPending} variant={isSecond ? "default" : "filled"}>
          Sign in
        </Button>
        <Text size="xs" c="dimmed">
          Without a key: run{" "}
          <Anchor component="span" inherit c="inherit" fw={600} underline="never">
            shoal console
          </Anchor>{" "}
          on a computer with the command line, or ask an administrator.
        </Text>
      </Stack>
    </form>
  );
}
