/* The native hook client: what `hook.py` does while a daemon answers, without the time that Python takes to start.

   Called as `FOLDER/hook PYTHON ... FOLDER/hook.py AGENT`: its own path, and the command of the Python client. Whatever it does not
   do itself (no daemon, a slow one, another folder for the data) it leaves to that command, in its place. Then two words follow the
   agent's name: why, and the seconds that are left. The event goes on through a pipe, never through a file: it can hold secrets.
   It always ends with 0 and within the limit; the names and numbers are those of `hook.py`. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#ifndef LIMIT
#define LIMIT 1.2
#endif
#ifndef PATIENCE
#define PATIENCE 30.0
#endif
#define REPEAT 0.1
#define MOST 50000000
#define HEAD 256 /* Room before the event for the line that comes first. */

struct bytes {
    char *data;
    size_t length, room;
};

static volatile sig_atomic_t is_late;

static void note_late(int number) {
    (void)number;
    is_late = 1;
}

static double read_clock(clockid_t clock) {
    struct timespec found = {0, 0};
    clock_gettime(clock, &found);
    return (double)found.tv_sec + (double)found.tv_nsec / 1e9;
}

/* The alarm interrupts what waits. It repeats: one that comes just before a system call begins does not interrupt it. */
static void set_alarm(double seconds) {
    long whole = (long)seconds;
    struct itimerval timer = {{0, (long)(REPEAT * 1e6)}, {whole, (long)((seconds - (double)whole) * 1e6)}};
    if (seconds <= 0) timer.it_interval.tv_usec = timer.it_value.tv_usec = timer.it_value.tv_sec = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void prepare_signals(void) {
    struct sigaction action;
    sigset_t alarms;
    memset(&action, 0, sizeof action);
    sigemptyset(&action.sa_mask);
    action.sa_handler = note_late; /* without SA_RESTART */
    sigaction(SIGALRM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
}

/* Adds what comes until the end or until there is more than `MOST`; 0 if that was in time and without an error. */
static int receive(int from, struct bytes *into) {
    size_t begin = into->length;
    while (into->length - begin <= MOST) {
        if (into->length == into->room) {
            size_t room = into->room ? 2 * into->room : 1 << 16;
            char *data = realloc(into->data, room);
            if (data == NULL) return -1;
            into->data = data;
            into->room = room;
        }
        ssize_t more = read(from, into->data + into->length, into->room - into->length);
        if (is_late || (more < 0 && errno != EINTR)) return -1;
        if (more == 0) return 0;
        if (more > 0) into->length += (size_t)more;
    }
    return 0;
}

static int send_all(int to, const char *data, size_t length) {
    while (length) {
        ssize_t sent = write(to, data, length);
        if (is_late || (sent < 0 && errno != EINTR)) return -1;
        if (sent > 0) data += sent, length -= (size_t)sent;
    }
    return 0;
}

/* A connection to the daemon. The current folder has the socket, because a whole path could be too long. */
static int reach_daemon(void) {
    struct sockaddr_un place;
    memset(&place, 0, sizeof place);
    place.sun_family = AF_UNIX;
    strcpy(place.sun_path, "socket");
    int first = socket(AF_UNIX, SOCK_STREAM, 0);
    int connection = fcntl(first, F_DUPFD, 3); /* not in the place of a standard stream that the agent has closed */
    close(first);
    while (connection >= 0 && connect(connection, (struct sockaddr *)&place, sizeof place)) {
        if (is_late || errno != EINTR) return -1;
    }
    return connection;
}

/* The daemon's answer as `body` of `answer`; -1 if it did not answer. The event begins at `HEAD` of `request`. */
static ssize_t ask_daemon(const char *agent, struct bytes *request, struct bytes *answer, char **body) {
    char head[HEAD];
    int size = snprintf(head, sizeof head, "%s %zu\n", agent, request->length - HEAD);
    if (size <= 0 || size >= HEAD) return -1;
    memcpy(request->data + HEAD - size, head, (size_t)size);
    int connection = reach_daemon();
    if (connection < 0) return -1;
    if (send_all(connection, request->data + HEAD - size, request->length - HEAD + (size_t)size)) return -1;
    if (receive(connection, answer)) return -1;
    char *end = answer->length ? memchr(answer->data, '\n', answer->length) : NULL;
    if (end == NULL) return -1;
    /* Without this line the daemon died or has another protocol, and the event may be lost. */
    size_t length = answer->length - (size_t)(end + 1 - answer->data);
    size = snprintf(head, sizeof head, "preheat 1 %zu", length);
    if (end - answer->data != size || memcmp(answer->data, head, (size_t)size)) return -1;
    *body = end + 1;
    return (ssize_t)length;
}

/* Whether a daemon recently did not answer in time, or has not shown since then that it is alive. */
static int was_slow_recently(void) {
    struct stat found;
    if (stat("slow", &found)) return 0;
    double age = read_clock(CLOCK_REALTIME) - (double)found.st_mtime;
    return found.st_size == 0 || (-PATIENCE < age && age < PATIENCE);
}

/* Becomes the Python client, which gets the event from a child and is told why. */
static void hand_over(int count, char **words, const char *why, double left, const struct bytes *request) {
    char seconds[40];
    char **command = calloc((size_t)count + 3, sizeof *command);
    int ends[2];
    set_alarm(0);
    is_late = 0;
    if (command == NULL || pipe(ends)) _exit(0);
    pid_t writer = fork();
    if (writer < 0) _exit(0);
    if (writer == 0) {
        set_alarm(LIMIT);
        for (int each = 0; each < 3; each++) /* the agent may wait until nobody has its pipes */
            if (each != ends[1]) close(each);
        close(ends[0]);
        send_all(ends[1], request->data + HEAD, request->length - HEAD);
        _exit(0);
    }
    close(ends[1]);
    if (dup2(ends[0], 0) < 0) _exit(0);
    if (ends[0] != 0) close(ends[0]);
    snprintf(seconds, sizeof seconds, "%.3f", left > 0.05 ? left : 0.05);
    memcpy(command, words, (size_t)count * sizeof *command);
    command[count] = (char *)why;
    command[count + 1] = seconds;
    execv(command[0], command);
    _exit(0);
}

static void run(int count, char **words) {
    struct bytes request = {malloc(1 << 16), HEAD, 1 << 16}, answer = {NULL, 0, 0};
    char *own = words[0], *slash = strrchr(own, '/'), *body = NULL;
    const char *named = getenv("PREHEAT_HOME");
    double began = read_clock(CLOCK_MONOTONIC);
    if (slash == NULL || own[0] != '/') return;
    *slash = 0;
    if (named != NULL && *named && strcmp(named, own)) { /* whether that folder may be used is a long story */
        execv(words[1], words + 1);
        return;
    }
    prepare_signals();
    set_alarm(LIMIT);
    if (request.data == NULL || receive(0, &request)) return;
    if (request.length - HEAD > MOST || getenv("PREHEAT_RUN") != NULL) return;
    const char *why = "gone";
    if (chdir(own) == 0 && chdir("live") == 0) {
        if (!was_slow_recently()) {
            ssize_t length = ask_daemon(words[count - 1], &request, &answer, &body);
            if (length >= 0) {
                send_all(1, body, (size_t)length);
                return;
            }
            if (is_late) why = "hung";
        } else
            why = "slow";
    }
    hand_over(count - 1, words + 1, why, LIMIT - (read_clock(CLOCK_MONOTONIC) - began), &request);
}

int main(int count, char **words) {
    if (count > 2) run(count, words);
    _exit(0);
}
