import { ActionIcon, Alert, AppShell, Burger, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useRouterState, useSearch } from "@tanstack/react-router";
import { Search, Unplug } from "lucide-react";
import { Suspense, use, useEffect, useRef } from "react";
import { type ConsoleSession, sessionQuery, takeLinkCode } from "../api/console-session.ts";
import { SignedInProvider, shoalOf } from "../api/shoal.ts";
import { lazyPart } from "../parts/lazy-part.ts";
import { Logo } from "../parts/logo.tsx";
import { tell } from "../parts/notices.ts";
import { Failure, IsDown, Loading } from "../parts/states.tsx";
import { Navigation } from "./navigation.tsx";
import { PersonButton } from "./person-button.tsx";
import { ProjectSwitcher } from "./project-switcher.tsx";
import { Shortcuts } from "./shortcuts.tsx";

const SignInPage = lazyPart(() => import("../pages/sign-in/sign-in-page.tsx"), "SignInPage");

/** Interval between questions to a service that is down. */
const askAgainMs = 2_000;

/** Signed out, every address shows the sign-in page, and continues to its own page afterwards. */
export function Frame() {
  const {
    data: session,
    error,
    isPending,
    refetch,
  } = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state }) => state.status === "error" && askAgainMs,
  });
  const isDown = error !== null && session !== undefined;
  useRefetchAfter(isDown);
  if (isPending) return <Loading />;
  if (session === undefined)
    return (
      <main>
        <Failure error={error} retry={() => void refetch()} />
      </main>
    );
  return (
    <IsDown value={isDown}>
      {session === null ? (
        <Suspense fallback={<Loading />}>
          {isDown && <DownNotice />}
          <SignInPage />
        </Suspense>
      ) : (
        <SignedInFrame session={session} />
      )}
    </IsDown>
  );
}

/** Reads everything again when the service is back. */
function useRefetchAfter(isDown: boolean): void {
  const queries = useQueryClient();
  const wasDown = useRef(isDown);
  useEffect(() => {
    if (wasDown.current && !isDown)
      void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
    wasDown.current = isDown;
  }, [isDown, queries]);
}

function DownNotice() {
  return (
    <Alert color="yellow" icon={<Unplug aria-hidden />} title="The service does not answer" role="status" mb="md">
      The page shows earlier data until the service answers again.
    </Alert>
  );
}

/** Moves the focus to the heading after a change of the page, so that screen readers announce it. */
function useFocusOnChange(close: () => void): void {
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const shown = useRef(pathname);
  useEffect(() => {
    if (shown.current !== undefined && shown.current !== pathname) {
      close();
      document.getElementById("page-title")?.focus();
    }
    shown.current = pathname;
  }, [pathname, close]);
}

/** A link does not replace the session of a person: another site may have opened it. */
function useUnneededLink(name: string): void {
  useEffect(() => {
    const take = () => {
      if (takeLinkCode() !== undefined) tell(`You are still signed in as ${name}. To use the link, sign out first.`);
    };
    take();
    window.addEventListener("hashchange", take);
    return () => {
      window.removeEventListener("hashchange", take);
    };
  }, [name]);
}

function SignedInFrame({ session }: { readonly session: ConsoleSession }) {
  const [isOpen, { toggle, close }] = useDisclosure();
  const palette = useDisclosure();
  const { project: wanted } = useSearch({ from: "__root__" });
  const project = session.projects.find(({ id, name }) => id === wanted || name === wanted) ?? session.projects[0];
  useFocusOnChange(close);
  useUnneededLink(session.principal.name);
  return (
    <SignedInProvider value={{ session, project, shoal: shoalOf(project?.id) }}>
      <a href="#page-title" className="skip-link">
        Skip to the content
      </a>
      <AppShell
        header={{ height: 56 }}
        navbar={{ width: 220, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
        padding={{ base: "md", md: "xl" }}
      >
        <AppShell.Header>
          <Group h="100%" px="md" justify="space-between" wrap="nowrap">
            <Group gap="sm" wrap="nowrap">
              <Burger
                opened={isOpen}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={isOpen ? "Close the menu" : "Open the menu"}
                aria-expanded={isOpen}
              />
              <Link to="/" aria-label="Shoal home" style={{ display: "flex" }}>
                <Logo />
              </Link>
              <Text fw={700} visibleFrom="sm">
                Shoal
              </Text>
              <ProjectSwitcher />
            </Group>
            <Group gap="sm" wrap="nowrap">
              <ActionIcon
                variant="default"
                size="lg"
                radius="xl"
                aria-label="Go to a page or a session"
                aria-haspopup="dialog"
                aria-keyshortcuts="Control+K Meta+K"
                title="Go to a page or a session (Ctrl K)"
                onClick={palette[1].open}
              >
                <Search size={18} aria-hidden />
              </ActionIcon>
              <PersonButton />
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="sm" style={{ overflowY: "auto" }}>
          <Navigation />
        </AppShell.Navbar>
        <AppShell.Main>
          {use(IsDown) && <DownNotice />}
          <Outlet key={project?.id ?? ""} />
        </AppShell.Main>
      </AppShell>
      <Shortcuts palette={palette} />
    </SignedInProvider>
  );
}
