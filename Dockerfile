FROM python:3.11-slim-bookworm AS built
# The build of PyTorch for processors alone is a tenth of the size.
ARG PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
COPY . /source
RUN /source/deploy/install.sh /opt/advisor

FROM python:3.11-slim-bookworm
COPY --from=built /opt/advisor /opt/advisor
RUN useradd --system --uid 10001 advisor && install --directory --owner advisor /data
USER advisor
ENV PATH=/opt/advisor/bin:$PATH \
    XDG_CACHE_HOME=/opt/advisor/cache \
    ADVISOR_DATA_DIR=/data \
    ADVISOR_ACCESS=keys \
    ADVISOR_LOG_LEVEL=info \
    PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 7860
HEALTHCHECK --interval=15s --timeout=5s --start-period=5m CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:7860/v1/readiness', timeout=4)"]
CMD ["advisor", "serve", "--host", "0.0.0.0", "--port", "7860"]
