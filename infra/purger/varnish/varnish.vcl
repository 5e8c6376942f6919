# Varnish (7.1 or newer, with vmod xkey of varnish-modules) in front of the gateway and the REST proxy. It needs CDN_TAG_HEADER=Surrogate-Key there, and a
# purger. Varnish's built-in VCL runs after each subroutine: requests with Authorization, and all methods but GET and HEAD, are not cached.
vcl 4.1;

import std;
import xkey;

include "backends.vcl";

sub vcl_recv {
    if (req.method == "PURGE") {
        if (client.ip !~ purgers) {
            return (synth(403, "Forbidden"));
        }
        if (std.getenv("PURGE_TOKEN") && req.http.Authorization != "Bearer " + std.getenv("PURGE_TOKEN")) {
            return (synth(401, "Unauthorized"));
        }
        # Not xkey.softpurge: it leaves responses that may be served stale.
        set req.http.X-Purged = xkey.purge(req.http.xkey-purge);
        return (synth(200, "Purged " + req.http.X-Purged));
    }
    if (req.url ~ "^/graphql([/?]|$)") {
        set req.backend_hint = gateway;
    } else {
        set req.backend_hint = rest_proxy;
    }
    # Neither endpoint reads cookies, so those of a load balancer, of analytics or of another site on the domain change no response. Without them in the
    # request, none can depend on them.
    unset req.http.Cookie;
    # A client that reads its own write sends a receipt. Only the gateway and the REST proxy can read it, so they get the request.
    if (req.http.Consistency-Token) {
        return (pass);
    }
}

sub vcl_backend_response {
    # CDN-Cache-Control (RFC 9213) replaces Cache-Control. Purges make responses fresher; this limit of 10 s guarantees it without them.
    if (beresp.http.CDN-Cache-Control ~ "max-age=\d+") {
        set beresp.ttl = std.duration(regsub(beresp.http.CDN-Cache-Control, "^.*max-age=(\d+).*$", "\1s"), 0s) - beresp.age;
    }
    if (beresp.ttl > 10s) {
        set beresp.ttl = 10s;
    }
    # No stale responses: grace would serve them after the limit. Their validators are kept for conditional requests.
    set beresp.grace = 0s;
    set beresp.keep = 60s;
    set beresp.http.xkey = beresp.http.Surrogate-Key;
}

sub vcl_deliver {
    unset resp.http.xkey;
    unset resp.http.Surrogate-Key;
    if (obj.hits > 0) {
        set resp.http.X-Cache = "hit";
        # They are about the request for which the response was stored, of another client.
        unset resp.http.RateLimit;
        unset resp.http.RateLimit-Policy;
    } else {
        set resp.http.X-Cache = "miss";
    }
}
