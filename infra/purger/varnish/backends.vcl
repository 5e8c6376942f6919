# Where Varnish finds the gateway and the REST proxy, and the networks from which purgers may purge. Replace the values of this file.
backend gateway {
    .host = "gateway";
    .port = "4000";
}

backend rest_proxy {
    .host = "rest-proxy";
    .port = "4010";
}

acl purgers {
    "localhost";
    "10.0.0.0"/8;
    "172.16.0.0"/12;
    "192.168.0.0"/16;
}
