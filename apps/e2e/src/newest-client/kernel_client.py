"""Uses the newest SDK `kernel` against the service of KERNEL_BASE_URL, and checks every answer against the SDK's types."""

import sys

from kernel import APIStatusError, Kernel

proxy_port = int(sys.argv[1])


def status_of(call):
    try:
        call()
        return None
    except APIStatusError as error:
        return error.status_code, error.body["code"]


with Kernel(_strict_response_validation=True, max_retries=0) as client:
    proxy = client.proxies.create(type="custom", protocol="http", name="way", config={"host": "127.0.0.1", "port": proxy_port})
    assert client.proxies.retrieve("way").id == proxy.id
    browser = client.browsers.create(
        network={
            "allowed_hosts": ["*.Example.com", "example.com"],
            "proxy_routes": [{"hosts": ["shop.example.com"], "proxy": {"name": "way"}}],
        },
        timeout_seconds=120,
    )
    assert browser.network.allowed_hosts == ["*.example.com", "example.com"]
    assert browser.network.proxy_routes[0].proxy.id == proxy.id
    state = browser.network.allowlist_state
    change = {"allowed_hosts": ["example.com"], "expected_allowlist_revision": state.revision, "mutation_id": "one"}
    changed = client.browsers.update(browser.session_id, network=change)
    assert changed.network.allowlist_state.base_revision == state.revision
    assert client.browsers.update(browser.session_id, network=change).network == changed.network
    stale = {**change, "mutation_id": "two"}
    assert status_of(lambda: client.browsers.update(browser.session_id, network=stale)) == (409, "stale_network")
    outside = lambda: client.browsers.update(browser.session_id, start_url="https://example.org/")
    assert status_of(outside)[0] == 400
    denied = client.browsers.curl(browser.session_id, url="http://example.org/")
    assert denied.status == 403, denied
    headers = {name.lower(): values for name, values in denied.headers.items()}
    assert headers["x-kernel-proxy-error"] == ["network_policy_denied"], denied.headers
    moved = client.browsers.update(browser.session_id, location={"timezone": "asia/tokyo"})
    assert (moved.location.timezone, moved.location.timezone_source) == ("Asia/Tokyo", "override"), moved.location
    unknown = lambda: client.browsers.update(browser.session_id, location={"timezone": "Mars/Base"})
    assert status_of(unknown) == (400, "invalid_browser_location")
    assert client.browsers.update(browser.session_id, location={"timezone": None}).location is None
    removed = client.browsers.update(browser.session_id, network={"allowed_hosts": None})
    assert removed.network.allowed_hosts is None and removed.network.allowlist_state is not None
    client.browsers.delete_by_id(browser.session_id)

    profile = client.profiles.create(name="newest")
    pool = client.browser_pools.create(size=1, fill_rate_per_minute=100_000)
    updated = client.browser_pools.update(pool.id, expected_network={}, network={"allowed_hosts": ["example.com"]})
    assert updated.browser_pool_config.network.allowed_hosts == ["example.com"]
    again = lambda: client.browser_pools.update(pool.id, expected_network={}, network={})
    assert status_of(again) == (409, "stale_network")
    leased = client.browser_pools.acquire(pool.id, profile={"name": "newest"}, acquire_timeout_seconds=60)
    assert leased.profile.id == profile.id and leased.network.allowed_hosts == ["example.com"]
    client.browser_pools.release(pool.id, session_id=leased.session_id)
    client.browser_pools.delete(pool.id, force=True)
    limits = client.organization.limits.retrieve()
    assert limits.concurrent_sessions_used is not None and limits.concurrent_sessions_available is not None
print("all answers fit")
