/* The client of scripts/bench tls: full TLS 1.3 handshakes, one after another, with the time and the processor time of both sides.
 *
 * usage: tls-client PORT GROUP AUTHORITY SERVER-PID
 *
 * For each number on standard input it makes that many connections to the server on the loopback and prints one line:
 *   WALL CLIENT-CPU SERVER-CPU, in nanoseconds for all of them together.
 * The server's certificate is checked against AUTHORITY. A connection without data: TCP, handshake, close_notify both ways. */

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what)
{
    perror(what);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static long long now(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        fail("tls-client: clock_gettime");
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void handshake(SSL_CTX *context, int port)
{
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int one = 1;
    int connection = socket(AF_INET, SOCK_STREAM, 0);
    SSL *ssl = SSL_new(context);
    char rest[1024];

    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connection < 0 || connect(connection, (struct sockaddr *)&server, sizeof server) != 0)
        fail("tls-client: connect");
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (ssl == NULL || SSL_set_fd(ssl, connection) != 1 || SSL_connect(ssl) != 1)
        fail("tls-client: SSL_connect");
    if (SSL_session_reused(ssl) || SSL_version(ssl) != TLS1_3_VERSION) {
        fprintf(stderr, "tls-client: not a full TLS 1.3 handshake\n");
        exit(1);
    }
    SSL_shutdown(ssl);
    shutdown(connection, SHUT_WR);
    /* Until the server has closed too: its work belongs to this connection. What comes are tickets, of no use here. */
    while (read(connection, rest, sizeof rest) > 0)
        ;
    SSL_free(ssl);
    close(connection);
}

int main(int count, char **arguments)
{
    int port, number;
    clockid_t server;
    SSL_CTX *context;

    if (count != 5) {
        fprintf(stderr, "usage: tls-client PORT GROUP AUTHORITY SERVER-PID\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    port = atoi(arguments[1]);
    if (clock_getcpuclockid(atoi(arguments[4]), &server) != 0)
        fail("tls-client: the server's processor clock");
    context = SSL_CTX_new(TLS_client_method());
    if (context == NULL || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1)
        fail("tls-client: SSL_CTX_new");
    if (SSL_CTX_set1_groups_list(context, arguments[2]) != 1)
        fail("tls-client: the group");
    if (SSL_CTX_load_verify_locations(context, arguments[3], NULL) != 1)
        fail("tls-client: the authority");
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    while (scanf("%d", &number) == 1) {
        long long wall = now(CLOCK_MONOTONIC), ours = now(CLOCK_PROCESS_CPUTIME_ID), theirs = now(server);
        for (int i = 0; i < number; i++)
            handshake(context, port);
        wall = now(CLOCK_MONOTONIC) - wall;
        ours = now(CLOCK_PROCESS_CPUTIME_ID) - ours;
        theirs = now(server) - theirs;
        printf("%lld %lld %lld\n", wall, ours, theirs);
        fflush(stdout);
    }
    SSL_CTX_free(context);
    return 0;
}
